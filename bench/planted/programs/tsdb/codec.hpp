// How values are packed; chosen by name when the store opens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tsdb {

class Codec {
public:
    virtual ~Codec() = default;
    virtual std::uint64_t pack(std::int64_t previous, std::int64_t value) = 0;
    virtual std::int64_t unpack(std::int64_t previous, std::uint64_t word) const = 0;
    virtual const char* name() const = 0;
};

class DeltaCodec final : public Codec {
public:
    explicit DeltaCodec(int shift) : shift_(shift) {}

    std::uint64_t pack(std::int64_t previous, std::int64_t value) override;
    std::int64_t unpack(std::int64_t previous, std::uint64_t word) const override;
    const char* name() const override { return "delta"; }

private:
    int shift_;
    std::uint64_t negative_ = 0;  // the ingest thread of this codec counts
    std::uint64_t widest_ = 0;
};

class RawCodec final : public Codec {
public:
    std::uint64_t pack(std::int64_t, std::int64_t value) override { return static_cast<std::uint64_t>(value); }
    std::int64_t unpack(std::int64_t, std::uint64_t word) const override { return static_cast<std::int64_t>(word); }
    const char* name() const override { return "raw"; }
};

std::unique_ptr<Codec> makeCodec(const std::string& name);

}  // namespace tsdb
