// Ranges of rows: the owner takes from the bottom, thieves from the top.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace par {

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

class RangeDeque {
public:
    explicit RangeDeque(std::size_t capacity) : ranges_(capacity) {}

    // Between phases, by one thread.
    void fill(std::uint32_t first, std::uint32_t last, std::uint32_t grain) {
        std::int32_t n = 0;
        for (std::uint32_t at = first; at < last; at += grain)
            ranges_[static_cast<std::size_t>(n++)] = Range{at, at + grain < last ? at + grain : last};
        top_.store(0, std::memory_order_relaxed);
        bottom_.store(n, std::memory_order_release);
    }

    std::optional<Range> take() {
        const std::int32_t b = bottom_.load(std::memory_order_relaxed) - 1;
        ++taken_;
        bottom_.store(b, std::memory_order_seq_cst);
        std::int32_t t = top_.load(std::memory_order_seq_cst);
        if (t < b) return ranges_[static_cast<std::size_t>(b)];
        std::optional<Range> found;
        if (t == b && top_.compare_exchange_strong(t, t + 1)) found = ranges_[static_cast<std::size_t>(b)];
        bottom_.store(b + 1, std::memory_order_relaxed);
        return found;
    }

    std::optional<Range> steal() {
        std::int32_t t = top_.load(std::memory_order_acquire);
        if (t >= bottom_.load(std::memory_order_acquire)) return std::nullopt;
        const Range range = ranges_[static_cast<std::size_t>(t)];
        if (!top_.compare_exchange_strong(t, t + 1)) return std::nullopt;
        return range;
    }

    std::uint64_t taken() const { return taken_; }

private:
    std::vector<Range> ranges_;
    std::atomic<std::int32_t> top_{0};
    std::atomic<std::int32_t> bottom_{0};
    std::uint64_t taken_ = 0;  // the owner's
};

}  // namespace par
