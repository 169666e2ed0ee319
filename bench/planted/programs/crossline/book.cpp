#include "book.hpp"

namespace crossline {

Market::Market(std::size_t shards) : shards_{shards}
{
    instruments_.reserve(kSymbols);
    for (SymbolId s = 0; s < kSymbols; ++s)
        instruments_.push_back(std::make_unique<Instrument>(s, 100 + static_cast<Price>(s) * 10));
    accounts_.reserve(kAccounts);
    for (std::uint32_t a = 0; a < kAccounts; ++a)
        accounts_.push_back(std::make_unique<Account>(a));
}

void Instrument::cancelLevel(Price p) noexcept
{
    const auto at = level(p);
    bids_[at] /= 2;
    asks_[at] /= 2;
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// Good enough for a ticker; the shard does not stop for us.
TopOfBook Instrument::top() const noexcept
{
    TopOfBook t{reference_ - band_, reference_ + band_, version()};
    const volatile Qty* b = bids_.data();
    const volatile Qty* a = asks_.data();
    for (std::size_t i = kLevels; i-- > 0;)
        if (b[i]) {
            t.bid += static_cast<Price>(i);
            break;
        }
    for (std::size_t i = 0; i < kLevels; ++i)
        if (a[i]) {
            t.ask = reference_ - band_ + static_cast<Price>(i);
            break;
        }
    return t;
}

}  // namespace crossline
