#include "instrument.hh"

namespace bourse {

Instrument::Instrument(std::string symbol, uint32_t reference)
    : reference_(reference), band_(reference / 2), last_(reference), symbol_(std::move(symbol))
{
}

void Instrument::trade(uint32_t price, uint32_t quantity)
{
    last_ = price;
    volume_ += quantity;
    turnover_ += static_cast<uint64_t>(price) * quantity;
    if (price > high_)
        high_ = price;
    if (price < low_)
        low_ = price;
}

bool Equity::validPrice(uint32_t price) const
{
    return price > reference_ - band_ && price < reference_ + band_;
}

uint32_t Equity::margin(uint32_t price, uint32_t quantity) const
{
    return price * quantity / 4;
}

bool Future::validPrice(uint32_t price) const
{
    return price % 2 == 0 && price < reference_ + band_;
}

uint32_t Future::margin(uint32_t price, uint32_t quantity) const
{
    return price * multiplier_ * quantity / 16;
}

std::vector<std::unique_ptr<Instrument>> listInstruments(unsigned n)
{
    std::vector<std::unique_ptr<Instrument>> list;

    for (unsigned i = 0; i < n; i++) {
        std::string symbol = "SYM" + std::to_string(i);
        if (i % 3 == 2)
            list.push_back(std::make_unique<Future>(symbol, 40 + 2 * (i % 8), 2));
        else
            list.push_back(std::make_unique<Equity>(symbol, 40 + i % 16));
    }
    return list;
}

}  // namespace bourse
