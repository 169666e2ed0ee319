#include <cstdlib>

#include "sched.hpp"

int main(int argc, char** argv) {
    long jobs = argc > 1 ? std::atol(argv[1]) : 10000;
    auto s = std::make_unique<ts::Scheduler>(3u, jobs);
    s->run();
    s->report();
    return 0;
}
