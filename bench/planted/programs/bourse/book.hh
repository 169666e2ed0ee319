#pragma once

#include "types.hh"

#include <vector>

namespace bourse {

constexpr unsigned kLevels = 128;

struct Level {
    uint32_t quantity = 0;
    uint16_t orders = 0;
    uint16_t lastAccount = 0;
};

struct Execution {
    uint32_t price;
    uint32_t quantity;
    uint16_t maker;
};

// A price ladder of one instrument; belongs to one matcher.
class OrderBook {
public:
    OrderBook();

    // returns what was executed at once; the rest is put into the book
    uint32_t submit(const OrderMsg& o, Execution* out, unsigned& n);
    uint32_t bestBid() const { return bid_; }
    uint32_t bestAsk() const { return ask_; }
    uint32_t depth() const { return resting_; }

private:
    void rest(const OrderMsg& o, uint32_t quantity);

    uint32_t bid_ = 0;
    uint32_t ask_ = kLevels;
    uint32_t resting_ = 0;
    uint32_t crossed_ = 0;
    std::vector<Level> bids_;
    std::vector<Level> asks_;
};

}  // namespace bourse
