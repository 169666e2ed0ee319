#pragma once

#include "types.hh"

#include <atomic>

namespace bourse {

// The connection of one gateway: it counts what it sends, the matchers count
// what they answer.
class Session {
public:
    Session(unsigned id, uint32_t seed) : id_(id), random_(seed + id * 31) {}

    uint32_t random() { return random_(); }
    void onSend() { sent_++; }
    void onReject() { rejected_++; }
    void onAck() { acks_.fetch_add(1, std::memory_order_relaxed); }
    void onFill(uint32_t quantity)
    {
        fills_.fetch_add(1, std::memory_order_relaxed);
        filledQuantity_.fetch_add(quantity, std::memory_order_relaxed);
    }
    uint32_t inFlight() const { return sent_ - acks_.load(std::memory_order_relaxed); }
    uint32_t sent() const { return sent_; }
    uint32_t rejected() const { return rejected_; }
    uint32_t fills() const { return fills_; }
    unsigned id() const { return id_; }

private:
    unsigned id_;
    Random random_;
    uint32_t sent_ = 0;
    uint32_t rejected_ = 0;
    std::atomic<uint32_t> acks_{0};
    std::atomic<uint32_t> fills_{0};
    std::atomic<uint32_t> filledQuantity_{0};
};

}  // namespace bourse
