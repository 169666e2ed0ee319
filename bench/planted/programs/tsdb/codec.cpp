#include "codec.hpp"

namespace tsdb {

std::uint64_t DeltaCodec::pack(std::int64_t previous, std::int64_t value) {
    const std::int64_t delta = value - previous;
    if (delta < 0) ++negative_;
    const std::uint64_t word = (static_cast<std::uint64_t>(delta) << shift_) ^ static_cast<std::uint64_t>(delta >> 63);
    if (word > widest_) widest_ = word;
    return word;
}

std::int64_t DeltaCodec::unpack(std::int64_t previous, std::uint64_t word) const {
    return previous + (static_cast<std::int64_t>(word >> shift_) ^ -static_cast<std::int64_t>(word & 1));
}

std::unique_ptr<Codec> makeCodec(const std::string& name) {
    if (name == "raw") return std::make_unique<RawCodec>();
    return std::make_unique<DeltaCodec>(1);
}

}  // namespace tsdb
