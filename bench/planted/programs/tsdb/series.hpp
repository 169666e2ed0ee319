// One metric: its open chunk and the sealed ones.
#pragma once

#include <atomic>
#include <mutex>

#include "codec.hpp"
#include "column.hpp"

namespace tsdb {

// Header first: what a query looks at before it decides to read the columns.
struct Chunk {
    explicit Chunk(std::size_t capacity) : times(capacity), words(capacity) {}

    std::atomic<std::uint32_t> count{0};
    Timestamp first = 0;
    Timestamp last = 0;
    Column<Timestamp> times;
    Column<std::uint64_t> words;
};

class Series {
public:
    Series(std::string name, std::size_t chunkRows);

    bool append(Timestamp at, std::int64_t value);
    std::int64_t scan(std::size_t rows);
    const std::string& name() const { return name_; }
    std::uint64_t appended() const { return appended_; }
    std::uint64_t scans() const { return scans_.load(std::memory_order_relaxed); }
    std::size_t sealed() const { return sealed_; }

private:
    std::shared_ptr<Chunk> current() const { return std::atomic_load(&open_); }

    const std::string name_;
    const std::size_t chunkRows_;
    std::unique_ptr<Codec> codec_;
    std::int64_t previous_ = 0;              // ingest
    std::uint64_t appended_ = 0;             // ingest
    std::atomic<std::uint64_t> scans_{0};    // queries
    std::atomic<std::int64_t> lastResult_{0};
    std::shared_ptr<Chunk> open_;
    std::size_t sealed_ = 0;
};

}  // namespace tsdb
