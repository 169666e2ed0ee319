#include <cstdio>
#include <cstdlib>

#include "grid.hpp"

int main(int argc, char** argv) {
    const unsigned sweeps = argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 200;
    constexpr unsigned workers = 4;
    constexpr std::uint32_t rows = 48;

    par::Grid a(rows, 16);
    par::Grid b(rows, 16);
    std::vector<float> sums(rows);
    par::RelaxTask forth(a, b, 0.9);
    par::RelaxTask back(b, a, 0.9);
    par::RowSumTask rowSums(a, sums);
    par::Counters::grain = 3;

    par::Pool pool(workers, rows);
    pool.run({&forth, &back, &rowSums}, sweeps);

    std::printf("%llu ranges, %s stolen, sum %.3f, clamped %llu\n", static_cast<unsigned long long>(pool.ranges()),
                pool.stolen() ? "some" : "none", par::checksum(sums),
                static_cast<unsigned long long>(forth.clamped() + back.clamped()));
    return par::heat() == 0.5 || pool.polls() == 0 ? 1 : 0;
}
