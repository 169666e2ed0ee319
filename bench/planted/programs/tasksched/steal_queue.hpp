#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace ts {

// Bounded deque: the owner pushes and pops at the bottom, thieves take from the top.
template <class T>
class StealQueue {
public:
    explicit StealQueue(std::size_t capacity) : slots_(std::make_unique<std::atomic<T>[]>(capacity)), mask_(capacity - 1) {}

    bool push(T v) {
        std::int64_t b = bottom_.load(std::memory_order_relaxed);
        if (b - top_.load(std::memory_order_acquire) > static_cast<std::int64_t>(mask_)) return false;
        slots_[b & mask_].store(v, std::memory_order_relaxed);
        bottom_.store(b + 1, std::memory_order_seq_cst);
        return true;
    }

    bool pop(T& out) {
        std::int64_t b = bottom_.load(std::memory_order_relaxed) - 1;
        bottom_.store(b, std::memory_order_seq_cst);
        std::int64_t t = top_.load(std::memory_order_seq_cst);
        if (t > b) {
            bottom_.store(b + 1, std::memory_order_relaxed);
            return false;
        }
        out = slots_[b & mask_].load(std::memory_order_relaxed);
        if (t == b) {
            bool won = top_.compare_exchange_strong(t, t + 1);
            bottom_.store(b + 1, std::memory_order_relaxed);
            return won;
        }
        return true;
    }

    bool steal(T& out) {
        std::int64_t t = top_.load(std::memory_order_seq_cst);
        if (t >= bottom_.load(std::memory_order_seq_cst)) return false;
        out = slots_[t & mask_].load(std::memory_order_relaxed);
        return top_.compare_exchange_strong(t, t + 1);
    }

private:
    std::unique_ptr<std::atomic<T>[]> slots_;
    std::size_t mask_;
    std::atomic<std::int64_t> top_{0};
    std::atomic<std::int64_t> bottom_{0};
};

}  // namespace ts
