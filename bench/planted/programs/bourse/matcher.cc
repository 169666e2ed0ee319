#include "matcher.hh"

#include <cstdio>

namespace bourse {

namespace {
constexpr size_t kInboxLimit = 96;
}

Floor::Floor(const Settings& s)
    : settings(s), instruments(listInstruments(s.instruments)), books(s.instruments),
      accounts(s.accounts, 40000000), market(s.instruments)
{
    for (unsigned i = 0; i < s.gateways; i++)
        sessions.push_back(std::make_unique<Session>(i, s.seed));
}

Matcher::Matcher(Floor& floor, unsigned index) : floor_(floor), index_(index)
{
    inbox_.reserve(kInboxLimit * 2);
}

void Matcher::start() { thread_ = std::thread(&Matcher::run, this); }

void Matcher::post(const OrderMsg* orders, unsigned n)
{
    std::unique_lock lock(mutex_);

    space_.wait(lock, [this] { return inbox_.size() < kInboxLimit; });
    inbox_.insert(inbox_.end(), orders, orders + n);
    if (inbox_.size() > peak_)
        peak_ = static_cast<unsigned>(inbox_.size());
    if (inbox_.size() == n)
        filled_.notify_one();
}

void Matcher::close()
{
    {
        std::lock_guard lock(mutex_);
        closed_ = true;
    }
    filled_.notify_one();
    if (thread_.joinable())
        thread_.join();
    if (floor_.settings.verbose)
        std::fprintf(stderr, "matcher %u: at most %u waited\n", index_, peak_);
}

void Matcher::execute(const OrderMsg& o)
{
    Instrument& instrument = *floor_.instruments[o.instrument];
    OrderBook& book = floor_.books[o.instrument];
    Session& session = *floor_.sessions[o.session];
    Execution ex[4];
    unsigned n = 0;

    book.submit(o, ex, n);
    for (unsigned i = 0; i < n; i++) {
        sequence::nextTrade.fetch_add(1, std::memory_order_relaxed);
        instrument.trade(ex[i].price, ex[i].quantity);
        floor_.accounts.fill(o.account, o.side, ex[i].quantity);
        floor_.accounts.fill(ex[i].maker, o.side == Side::Buy ? Side::Sell : Side::Buy,
                             ex[i].quantity);
        session.onFill(ex[i].quantity);
        totals_.trades++;
    }
    floor_.accounts.release(o.account, instrument.margin(o.price, o.quantity));
    session.onAck();
    floor_.market.update(o.instrument, book.bestBid(), book.bestAsk(), instrument.last());
    totals_.orders++;
}

void Matcher::run()
{
    std::vector<OrderMsg> batch;

    batch.reserve(kInboxLimit * 2);
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            filled_.wait(lock, [this] { return closed_ || !inbox_.empty(); });
            if (inbox_.empty())
                return;
            batch.swap(inbox_);
        }
        space_.notify_all();
        for (const OrderMsg& o : batch)
            execute(o);
        batch.clear();
        totals_.batches++;
    }
}

}  // namespace bourse
