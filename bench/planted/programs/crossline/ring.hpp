#pragma once

#include "types.hpp"

namespace crossline {

// Single producer, single consumer.
template <typename T, std::size_t N>
class SpscRing {
    static_assert((N & (N - 1)) == 0);

public:
    bool push(const T& v) noexcept
    {
        const auto at = writePos_.load(std::memory_order_relaxed);
        if (at - readPos_.load(std::memory_order_acquire) == N) {
            ++overruns_;
            return false;
        }
        cells_[at & (N - 1)] = v;
        writePos_.store(at + 1, std::memory_order_release);
        return true;
    }

    bool pop(T& out) noexcept
    {
        const auto at = readPos_.load(std::memory_order_relaxed);
        if (at == writePos_.load(std::memory_order_acquire))
            return false;
        out = cells_[at & (N - 1)];
        readPos_.store(at + 1, std::memory_order_release);
        return true;
    }

    bool idle() const noexcept { return readPos_.load() == writePos_.load(); }

private:
    std::atomic<std::uint32_t> writePos_{0};
    std::atomic<std::uint32_t> readPos_{0};
    std::uint32_t overruns_{0};
    std::array<T, N> cells_{};
};

}  // namespace crossline
