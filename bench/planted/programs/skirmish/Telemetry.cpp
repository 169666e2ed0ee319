#include "Telemetry.h"

namespace sk {

void Telemetry::Record(uint32_t entity, uint32_t value) {
    if (!sampling_)
        return;
    uint32_t at = head_.fetch_add(1, std::memory_order_relaxed);
    ring_[at % kRing].entity = entity;
    ring_[at % kRing].value = value;
}

void Telemetry::Start() {
    thread_ = std::thread([this] { Loop(); });
}

void Telemetry::Stop() {
    quit_.store(true);
    thread_.join();
}

void Telemetry::Loop() {
    while (!quit_.load(std::memory_order_relaxed)) {
        uint32_t head = head_.load(std::memory_order_relaxed);
        if (head - drained_ > kRing) {
            lost_ += head - drained_ - kRing;
            drained_ = head - kRing;
        }
        for (uint32_t n = 0; drained_ != head && n < 16; ++n) {
            sum_ += ring_[drained_ % kRing].value;
            ++drained_;
        }
        ++rounds_;
        std::this_thread::yield();
    }
}

}  // namespace sk
