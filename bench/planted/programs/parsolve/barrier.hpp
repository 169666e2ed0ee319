// A barrier that spins: phases are short.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace par {

class SpinBarrier {
public:
    explicit SpinBarrier(unsigned parties) : parties_(parties), waiting_(0), phase_(0) {}

    // True in the thread that came last.
    bool arrive() {
        const unsigned phase = phase_.load(std::memory_order_relaxed);
        if (waiting_.fetch_add(1, std::memory_order_acq_rel) + 1 == parties_) {
            waiting_.store(0, std::memory_order_relaxed);
            phase_.store(phase + 1, std::memory_order_release);
            return true;
        }
        while (phase_.load(std::memory_order_acquire) == phase) std::this_thread::yield();
        return false;
    }

    unsigned phases() const { return phase_.load(std::memory_order_relaxed); }

private:
    const unsigned parties_;
    std::atomic<unsigned> waiting_;
    std::atomic<unsigned> phase_;
};

}  // namespace par
