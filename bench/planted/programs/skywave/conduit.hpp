#pragma once
#include "common.hpp"

namespace skywave {

template <typename T>
concept Shippable = std::default_initializable<T> && std::copyable<T>;

// A bounded conduit between exactly two threads.  The producer moves
// pushed_, the consumer moves popped_; both sleep on the other's index.
template <Shippable T, std::size_t N>
class Conduit {
    static_assert((N & (N - 1)) == 0, "a power of two");

public:
    void push(const T& item) {
        const auto at = pushed_.load(std::memory_order_relaxed);
        for (;;) {
            const auto done = popped_.load(std::memory_order_acquire);
            if (at - done < N)
                break;
            ++fullStops_;
            popped_.wait(done, std::memory_order_acquire);
        }
        boxes_[at & (N - 1)] = item;
        pushed_.store(at + 1, std::memory_order_release);
        pushed_.notify_one();
    }

    T pop() {
        const auto at = popped_.load(std::memory_order_relaxed);
        while (pushed_.load(std::memory_order_acquire) == at)
            pushed_.wait(at, std::memory_order_acquire);
        T item = boxes_[at & (N - 1)];
        popped_.store(at + 1, std::memory_order_release);
        popped_.notify_one();
        return item;
    }

    bool try_pop(T& item) {
        const auto at = popped_.load(std::memory_order_relaxed);
        if (pushed_.load(std::memory_order_acquire) == at)
            return false;
        item = boxes_[at & (N - 1)];
        popped_.store(at + 1, std::memory_order_release);
        popped_.notify_one();
        return true;
    }

    std::uint32_t traffic() const { return pushed_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint32_t> pushed_{0};
    std::atomic<std::uint32_t> popped_{0};
    std::uint32_t fullStops_{0};
    std::array<T, N> boxes_{};
};

using BurstLink = Conduit<Burst, kQueueDepth>;
using SymbolLink = Conduit<Symbols, kQueueDepth>;

}  // namespace skywave
