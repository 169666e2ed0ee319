#pragma once

#include "types.hh"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace bourse {

struct Quote {
    std::atomic<uint32_t> version{0};
    uint32_t bid = 0;
    uint32_t ask = 0;
    uint32_t last = 0;
};

// Conflated market data: matchers overwrite the quote, a thread sends the
// quotes that changed.
class MarketData {
public:
    explicit MarketData(unsigned instruments);
    ~MarketData();

    void update(unsigned instrument, uint32_t bid, uint32_t ask, uint32_t last);
    void stop();
    uint32_t clock() const { return clock_.load(std::memory_order_relaxed); }
    bool open() const { return open_; }
    void setOpen(bool open) { open_ = open; }
    unsigned sent() const { return sent_; }
    unsigned retries() const { return retries_; }

private:
    void run(std::stop_token stop);
    void send(unsigned instrument);

    std::vector<Quote> quotes_;
    std::vector<std::atomic<uint8_t>> dirty_;
    std::atomic<uint32_t> clock_{1};
    std::atomic<bool> open_{false};
    uint32_t sent_ = 0;
    uint32_t retries_ = 0;
    uint32_t rounds_ = 0;
    uint32_t digest_ = 0;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread thread_;
};

}  // namespace bourse
