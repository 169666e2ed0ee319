#include "gateway.hh"

#include <thread>

namespace bourse {

std::atomic<unsigned> Gateway::throttled_{0};
std::atomic<unsigned> Gateway::live_{0};

Gateway::Gateway(Floor& floor, std::vector<std::unique_ptr<Matcher>>& matchers, unsigned index)
    : floor_(floor), matchers_(matchers), session_(*floor.sessions[index]),
      pending_(matchers.size())
{
    for (auto& p : pending_)
        p.reserve(floor.settings.batch);
}

bool Gateway::build(OrderMsg& o)
{
    uint32_t r = session_.random();
    Instrument* instrument;

    o.instrument = static_cast<uint16_t>(r % floor_.settings.instruments);
    o.account = static_cast<uint16_t>((r >> 9) % floor_.settings.accounts);
    o.quantity = static_cast<uint16_t>(1 + (r >> 4) % 9);
    o.side = (r >> 13) & 1 ? Side::Buy : Side::Sell;
    o.session = static_cast<uint8_t>(session_.id());
    instrument = floor_.instruments[o.instrument].get();
    o.price = instrument->reference() + ((r >> 16) & 7) * 2 - 6;
    if (!instrument->validPrice(o.price))
        return false;
    if (!floor_.accounts.reserve(o.account, instrument->margin(o.price, o.quantity)))
        return false;
    o.id = sequence::nextOrder.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void Gateway::flush(unsigned matcher)
{
    auto& p = pending_[matcher];

    if (p.empty())
        return;
    matchers_[matcher]->post(p.data(), static_cast<unsigned>(p.size()));
    p.clear();
}

void Gateway::run()
{
    unsigned n = static_cast<unsigned>(matchers_.size());

    live_.fetch_add(1);
    while (session_.sent() < floor_.settings.orders && floor_.market.open()) {
        OrderMsg o{};

        if (floor_.market.clock() != lastClock_) {
            lastClock_ = floor_.market.clock();
            burst_ = 0;
        }
        if (++burst_ > 4000) {
            throttled_.fetch_add(1, std::memory_order_relaxed);
            burst_ = 0;
            std::this_thread::yield();
        }
        session_.onSend();
        if (!build(o)) {
            session_.onReject();
            continue;
        }
        unsigned m = o.instrument % n;
        pending_[m].push_back(o);
        if (pending_[m].size() >= floor_.settings.batch)
            flush(m);
    }
    for (unsigned m = 0; m < n; m++)
        flush(m);
    live_.fetch_sub(1);
}

}  // namespace bourse
