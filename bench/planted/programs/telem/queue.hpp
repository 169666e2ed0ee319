#pragma once
#include "event.hpp"
#include <atomic>
#include <memory>

// bounded, one thread on each end
class EventQueue {
public:
    explicit EventQueue(unsigned size) : events_(new Event[size]), mask_(size - 1) {}

    bool push(const Event &e) {
        const unsigned t = tail_.load(std::memory_order_relaxed);
        if (t - seenHead_ > mask_) {
            seenHead_ = head_.load(std::memory_order_acquire);
            if (t - seenHead_ > mask_)
                return false;
        }
        events_[t & mask_] = e;
        tail_.store(t + 1, std::memory_order_release);
        return true;
    }

    bool pop(Event &out) {
        const unsigned h = head_.load(std::memory_order_relaxed);
        if (h == tail_.load(std::memory_order_acquire))
            return false;
        out = events_[h & mask_];
        head_.store(h + 1, std::memory_order_release);
        return true;
    }

    const void *headAddress() const { return &head_; }
    const void *tailAddress() const { return &tail_; }

private:
    std::unique_ptr<Event[]> events_;
    std::atomic<unsigned> head_{0};
    std::atomic<unsigned> tail_{0};
    unsigned mask_;
    unsigned seenHead_ = 0;
};
