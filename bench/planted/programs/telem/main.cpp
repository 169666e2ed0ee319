#include "aggregator.hpp"
#include <cstdlib>

int main(int argc, char **argv) {
    const long rounds = argc > 1 ? std::atol(argv[1]) : 1000000;
    auto a = std::make_unique<Aggregator>(2);
    a->probe();
    a->run(rounds);
    a->report();
    return 0;
}
