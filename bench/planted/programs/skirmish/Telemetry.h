#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace sk {

struct Sample {
    uint32_t entity;
    uint32_t value;
};

class Telemetry {
public:
    Telemetry() = default;
    void Record(uint32_t entity, uint32_t value);
    void Start();
    void Stop();
    uint64_t Sum() const { return sum_; }

private:
    static constexpr uint32_t kRing = 512;
    void Loop();

    std::atomic<uint32_t> head_{0};
    uint32_t sampling_ = 1;
    uint32_t drained_ = 0;
    uint32_t rounds_ = 0;
    uint64_t sum_ = 0;
    uint32_t lost_ = 0;
    alignas(64) Sample ring_[kRing] = {};
    std::thread thread_;
    std::atomic<bool> quit_{false};
};

}  // namespace sk
