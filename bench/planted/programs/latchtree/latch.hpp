#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

namespace lt {

// Word-sized reader/writer latch: -1 when written, else the number of readers.
class rw_latch {
public:
    void lock()
    {
        int expected = 0;
        while (!word_.compare_exchange_weak(expected, -1, std::memory_order_acquire)) {
            expected = 0;
            std::this_thread::yield();
        }
    }

    void unlock() { word_.store(0, std::memory_order_release); }

    void lock_shared()
    {
        for (;;) {
            int seen = word_.load(std::memory_order_relaxed);
            if (seen >= 0 && word_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire))
                return;
            std::this_thread::yield();
        }
    }

    void unlock_shared() { word_.fetch_sub(1, std::memory_order_release); }

private:
    std::atomic<int> word_{0};
};

class latch_table {
public:
    explicit latch_table(std::size_t n) : latches_(new rw_latch[n]), size_(n) {}
    rw_latch& of(std::size_t page) { return latches_[page % size_]; }

private:
    std::unique_ptr<rw_latch[]> latches_;
    std::size_t size_;
};

template <typename L>
class shared_guard {
public:
    explicit shared_guard(L& l) : latch_(l) { latch_.lock_shared(); }
    ~shared_guard() { latch_.unlock_shared(); }
    shared_guard(const shared_guard&) = delete;
    shared_guard& operator=(const shared_guard&) = delete;

private:
    L& latch_;
};

template <typename L>
class unique_guard {
public:
    explicit unique_guard(L& l) : latch_(l) { latch_.lock(); }
    ~unique_guard() { latch_.unlock(); }
    unique_guard(const unique_guard&) = delete;
    unique_guard& operator=(const unique_guard&) = delete;

private:
    L& latch_;
};

} // namespace lt
