#pragma once

#include "account.hh"
#include "book.hh"
#include "instrument.hh"
#include "market_data.hh"
#include "session.hh"
#include "types.hh"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bourse {

struct alignas(64) MatcherTotals {
    uint64_t orders = 0;
    uint64_t trades = 0;
    uint64_t batches = 0;
};

// what all the parts share
struct Floor {
    const Settings& settings;
    std::vector<std::unique_ptr<Instrument>> instruments;
    std::vector<OrderBook> books;
    AccountTable accounts;
    MarketData market;
    std::vector<std::unique_ptr<Session>> sessions;

    explicit Floor(const Settings& s);
};

class Matcher {
public:
    Matcher(Floor& floor, unsigned index);

    void start();
    void post(const OrderMsg* orders, unsigned n);
    void close();
    const MatcherTotals& totals() const { return totals_; }

private:
    void run();
    void execute(const OrderMsg& o);

    Floor& floor_;
    unsigned index_;
    std::mutex mutex_;
    std::condition_variable filled_;
    std::condition_variable space_;
    std::vector<OrderMsg> inbox_;
    bool closed_ = false;
    unsigned peak_ = 0;
    MatcherTotals totals_;
    std::thread thread_;
};

}  // namespace bourse
