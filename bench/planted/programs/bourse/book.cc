#include "book.hh"

#include <algorithm>

namespace bourse {

OrderBook::OrderBook() : bids_(kLevels), asks_(kLevels) {}

void OrderBook::rest(const OrderMsg& o, uint32_t quantity)
{
    Level& l = o.side == Side::Buy ? bids_[o.price] : asks_[o.price];

    l.quantity += quantity;
    l.orders++;
    l.lastAccount = o.account;
    if (o.side == Side::Buy)
        bid_ = std::max(bid_, o.price);
    else
        ask_ = std::min(ask_, o.price);
    resting_ += quantity;
}

uint32_t OrderBook::submit(const OrderMsg& o, Execution* out, unsigned& n)
{
    uint32_t left = o.quantity;
    bool buy = o.side == Side::Buy;

    n = 0;
    while (left && n < 4 && (buy ? ask_ <= o.price && ask_ < kLevels : bid_ >= o.price && bid_ > 0)) {
        uint32_t price = buy ? ask_ : bid_;
        Level& l = buy ? asks_[price] : bids_[price];
        uint32_t q = std::min(left, l.quantity);

        if (q) {
            out[n++] = {price, q, l.lastAccount};
            l.quantity -= q;
            resting_ -= q;
            left -= q;
        }
        if (!l.quantity) {
            l.orders = 0;
            if (buy)
                ask_++;
            else
                bid_--;
        }
    }
    if (n)
        crossed_++;
    if (left)
        rest(o, left);
    return o.quantity - left;
}

}  // namespace bourse
