// bourse: an exchange in one process: gateways, matchers, market data
#include "gateway.hh"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string_view>

using namespace bourse;

namespace {

unsigned number(std::string_view arg)
{
    auto pos = arg.find('=');
    if (pos == std::string_view::npos)
        throw std::invalid_argument("missing value: " + std::string(arg));
    unsigned long v = std::strtoul(std::string(arg.substr(pos + 1)).c_str(), nullptr, 10);
    if (v == 0 || v > 100000000)
        throw std::invalid_argument("bad value: " + std::string(arg));
    return static_cast<unsigned>(v);
}

Settings parse(int argc, char** argv)
{
    Settings s;
    for (int i = 1; i < argc; i++) {
        std::string_view a = argv[i];
        if (a.starts_with("--orders=")) s.orders = number(a);
        else if (a.starts_with("--gateways=")) s.gateways = number(a);
        else if (a.starts_with("--matchers=")) s.matchers = number(a);
        else if (a.starts_with("--instruments=")) s.instruments = number(a);
        else if (a.starts_with("--accounts=")) s.accounts = number(a);
        else if (a.starts_with("--batch=")) s.batch = number(a);
        else if (a.starts_with("--seed=")) s.seed = number(a);
        else if (a == "--verbose") s.verbose = true;
        else throw std::invalid_argument("unknown option: " + std::string(a));
    }
    return s;
}

void report(Floor& floor, const std::vector<std::unique_ptr<Matcher>>& matchers)
{
    unsigned long orders = 0, trades = 0, batches = 0;

    for (const auto& m : matchers) {
        orders += m->totals().orders;
        trades += m->totals().trades;
        batches += m->totals().batches;
    }
    std::printf("%lu orders, %lu trades, %lu batches, %u throttled\n", orders, trades, batches,
                Gateway::throttled());
    for (const auto& s : floor.sessions)
        std::printf("session %u: %u sent, %u rejected, %u fills\n", s->id(), s->sent(),
                    s->rejected(), s->fills());
    for (unsigned i = 0; i < floor.settings.instruments; i++)
        if (floor.settings.verbose)
            std::printf("%s: last %u, volume %u, depth %u\n", floor.instruments[i]->symbol().c_str(),
                        floor.instruments[i]->last(), floor.instruments[i]->volume(),
                        floor.books[i].depth());
    std::printf("open interest %ld, %u quotes sent, %u retries\n", floor.accounts.openInterest(),
                floor.market.sent(), floor.market.retries());
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        Settings settings = parse(argc, argv);
        Floor floor(settings);
        std::vector<std::unique_ptr<Matcher>> matchers;
        std::vector<std::unique_ptr<Gateway>> gateways;
        std::vector<std::jthread> threads;

        for (unsigned i = 0; i < settings.matchers; i++)
            matchers.push_back(std::make_unique<Matcher>(floor, i));
        for (unsigned i = 0; i < settings.gateways; i++)
            gateways.push_back(std::make_unique<Gateway>(floor, matchers, i));
        floor.market.setOpen(true);
        for (auto& m : matchers)
            m->start();
        for (auto& g : gateways)
            threads.emplace_back([&g] { g->run(); });
        threads.clear();
        for (auto& m : matchers)
            m->close();
        floor.market.stop();
        report(floor, matchers);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bourse: %s\n", e.what());
        return 1;
    }
    return 0;
}
