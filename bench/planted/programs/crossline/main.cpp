#include "engine.hpp"

#include <cstdio>
#include <cstdlib>

namespace crossline {

namespace {

struct Ticker {
    Price bid{0};
    Price ask{0};
    std::uint32_t updates{0};
};

std::array<Ticker, kSymbols> ticker;
std::uint32_t crossedBooks = 0;
std::uint64_t finalVolume = 0;

// Spreads the opening book over a few threads before anybody trades.
std::uint64_t openingAuction(Market& m)
{
    std::vector<std::future<std::uint64_t>> parts;
    for (std::size_t p = 0; p < 3; ++p)
        parts.push_back(std::async(std::launch::async, [&m, p] {
            std::uint64_t sum = 0;
            for (std::size_t s = p; s < kSymbols; s += 3) {
                auto& ins = m.instrument(static_cast<SymbolId>(s));
                for (Price d = -6; d < 6; ++d) {
                    Order o{0, ins.symbol(), 0, ins.reference() + d, 5, d < 0 ? Side::Buy : Side::Sell, OrderKind::Limit};
                    ins.submit(o, [&](Price, Qty q) { sum += static_cast<std::uint64_t>(q); });
                }
            }
            return sum;
        }));
    std::uint64_t all = 0;
    for (auto& f : parts)
        all += f.get();
    return all;
}

}  // namespace

Exchange::Exchange(const Settings& s) : settings_{s}, market_{s.shards}, publisher_{market_, shards_}
{
    for (std::size_t i = 0; i < s.shards; ++i)
        shards_.push_back(std::make_unique<Shard>(i, s.gateways, market_));
    for (std::size_t g = 0; g < s.gateways; ++g)
        gateways_.push_back(std::make_unique<Gateway>(g, market_, shards_));
    desk_ = std::make_unique<RiskDesk>(market_);
    riskDesk = desk_.get();
    publisher_.subscribe([](const Instrument& ins, const TopOfBook& t) {
        auto& k = ticker[ins.symbol()];
        k.bid = t.bid;
        k.ask = t.ask;
        ++k.updates;
    });
    publisher_.subscribe([](const Instrument&, const TopOfBook& t) {
        if (t.bid >= t.ask)
            ++crossedBooks;
    });
}

void Exchange::run()
{
    if (settings_.auctions)
        finalVolume += openingAuction(market_);
    std::jthread risk{[this](std::stop_token st) { desk_->run(st); }};
    std::jthread data{[this](std::stop_token st) { publisher_.run(st); }};
    std::vector<std::jthread> engines;
    for (auto& sh : shards_)
        engines.emplace_back([&s = *sh](std::stop_token st) { s.run(st); });
    {
        std::vector<std::jthread> clients;
        for (auto& g : gateways_)
            clients.emplace_back([&g = *g, n = settings_.rounds] { g.run(n); });
    }
    for (auto& t : engines)
        t.request_stop();
    engines.clear();
}

void Exchange::report() const
{
    for (auto& sh : shards_)
        std::printf("shard: sequence %llu, %u stalls, throttle %u\n", static_cast<unsigned long long>(sh->sequence()), sh->stalls(), sh->throttle());
    for (auto& g : gateways_)
        std::printf("gateway: %llu sent, %llu held\n", static_cast<unsigned long long>(g->sent()), static_cast<unsigned long long>(g->held()));
    std::uint64_t v = finalVolume, p = 0, u = 0;
    for (auto& ins : market_.instruments()) {
        v += ins->volume();
        p += ins->publishCount();
    }
    for (auto& k : ticker)
        u += k.updates;
    std::printf("volume %llu, %llu publications, %llu updates, %u crossed, %llu fills, %u answers\n", static_cast<unsigned long long>(v),
                static_cast<unsigned long long>(p), static_cast<unsigned long long>(u), crossedBooks,
                static_cast<unsigned long long>(publisher_.fillsSeen()), desk_->answered());
    std::printf("%u lost or quiet\n", lostAndQuiet());
    printMetrics();
}

}  // namespace crossline

int main(int argc, char** argv)
{
    crossline::Settings s;
    s.auctions = true;
    if (argc > 1)
        s.rounds = std::strtoul(argv[1], nullptr, 10);
    const auto exchange = std::make_unique<crossline::Exchange>(s);
    exchange->run();
    exchange->report();
}
