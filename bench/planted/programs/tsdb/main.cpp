#include <cstdlib>

#include "store.hpp"

namespace {

constexpr unsigned kIngesters = 2;
constexpr unsigned kQueriers = 2;

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    auto store = std::make_unique<tsdb::Store>(tsdb::Options{}, kIngesters, kQueriers);

    std::vector<std::thread> queriers;
    for (unsigned i = 0; i < kQueriers; ++i) queriers.emplace_back([&store, i] { store->query(i); });
    std::thread watcher(&tsdb::Store::watch, store.get());

    std::vector<std::thread> ingesters;
    for (unsigned i = 0; i < kIngesters; ++i)
        ingesters.emplace_back([&store, i, rounds] { store->ingest(i, rounds); });
    for (std::thread& thread : ingesters) thread.join();

    store->stop();
    for (std::thread& thread : queriers) thread.join();
    watcher.join();
    store->report();
    return 0;
}
