#include "flow.hpp"

namespace ft {

Limiter::Limiter(std::uint32_t rate, std::uint32_t burst) : rate_(rate), burst_(burst), mask_(kBuckets - 1) {
    for (auto& b : buckets_) b.tokens = burst;
}

bool Limiter::admit(std::uint32_t src, std::uint32_t cost) {
    Bucket& b = buckets_[src & mask_];
    if (b.tokens.fetch_sub(cost, std::memory_order_relaxed) < static_cast<std::int64_t>(cost)) {
        b.tokens.fetch_add(burst_, std::memory_order_relaxed);
        return false;
    }
    admitted_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void Limiter::refill(unsigned first, unsigned count) {
    for (unsigned i = first; i < first + count; ++i) {
        Bucket& b = buckets_[i & mask_];
        if (b.tokens.load(std::memory_order_relaxed) < static_cast<std::int64_t>(burst_))
            b.tokens.fetch_add(rate_, std::memory_order_relaxed);
    }
}

bool Channel::push(const Packet& p) {
    std::size_t t = tail_.load(std::memory_order_relaxed);
    if (t - head_.load(std::memory_order_acquire) > mask_) return false;
    items_[t & mask_] = p;
    tail_.store(t + 1, std::memory_order_release);
    return true;
}

bool Channel::pop(Packet& p) {
    std::size_t h = head_.load(std::memory_order_relaxed);
    if (h == tail_.load(std::memory_order_acquire)) return false;
    p = items_[h & mask_];
    head_.store(h + 1, std::memory_order_release);
    return true;
}

}  // namespace ft
