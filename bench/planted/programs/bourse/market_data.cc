#include "market_data.hh"

#include <chrono>

namespace bourse {

MarketData::MarketData(unsigned instruments)
    : quotes_(instruments), dirty_(instruments),
      thread_([this](std::stop_token s) { run(s); })
{
}

MarketData::~MarketData() { stop(); }

void MarketData::stop()
{
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
    }
}

void MarketData::update(unsigned instrument, uint32_t bid, uint32_t ask, uint32_t last)
{
    Quote& q = quotes_[instrument];

    q.version.fetch_add(1, std::memory_order_acquire);
    q.bid = bid;
    q.ask = ask;
    q.last = last;
    q.version.fetch_add(1, std::memory_order_release);
    dirty_[instrument].store(1, std::memory_order_release);
}

void MarketData::send(unsigned instrument)
{
    const Quote& q = quotes_[instrument];
    uint32_t before, bid, ask;

    do {
        before = q.version.load(std::memory_order_acquire);
        bid = q.bid;
        ask = q.ask;
        if (before & 1)
            retries_++;
    } while (before & 1 ? (std::this_thread::yield(), true) : before != q.version.load());
    digest_ = digest_ * 31 + bid + ask;
    sent_++;
}

void MarketData::run(std::stop_token stop)
{
    std::unique_lock lock(mutex_);

    while (!stop.stop_requested()) {
        wake_.wait_for(lock, stop, std::chrono::microseconds(150), [] { return false; });
        clock_.fetch_add(1, std::memory_order_relaxed);
        for (unsigned i = 0; i < dirty_.size(); i++)
            if (dirty_[i].load(std::memory_order_acquire)) {
                dirty_[i].store(0, std::memory_order_relaxed);
                send(i);
            }
        rounds_++;
    }
}

}  // namespace bourse
