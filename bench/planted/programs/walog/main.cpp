#include "store.hpp"
#include <cstdlib>
#include <iostream>

int main(int argc, char **argv) {
    long rounds = argc > 1 ? std::atol(argv[1]) : 300000;
    walog::Options options;
    if (std::getenv("WAL_SYNC"))
        options.sync_each = true;
    auto log = std::make_unique<walog::Log>(options);
    walog::Store store(*log, 3);
    log->probe();
    store.probe();
    store.start(rounds);
    store.finish();
    log->report();
    store.report();
    if (log->durable() > walog::last_lsn.load())
        std::cerr << "durable is ahead\n";
    return 0;
}
