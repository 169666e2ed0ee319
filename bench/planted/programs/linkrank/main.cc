// linkrank - ranks the nodes of a link graph.
#include <getopt.h>

#include <cstdlib>
#include <exception>
#include <iostream>

#include "solver.hh"

using namespace linkrank;

namespace {

[[noreturn]] void usage()
{
    std::cerr << "usage: linkrank [-v] [-n nodes] [-d degree] [-s sweeps] [-t threads] [file]\n";
    std::exit(2);
}

struct Stage {
    const char *name;
    void (*run)(Solver &, const Options &);
};

const Stage stages[] = {
    {"rank", [](Solver &s, const Options &) { s.rank(); }},
    {"search", [](Solver &s, const Options &o) { for (int i = 0; i < o.sweeps; ++i) s.search(i); }},
    {"communities", [](Solver &s, const Options &o) { s.communities(o.sweeps * 4); }},
    {"summary", [](Solver &s, const Options &o) { s.summarize(o.sweeps * 2); }},
    {"spread", [](Solver &s, const Options &o) { s.spread(o.sweeps); }},
    {"paths", [](Solver &s, const Options &o) { s.paths(o.sweeps * 1000); }},
};

} // namespace

int main(int argc, char **argv)
{
    Options opt;
    node_t nodes = 4096;
    unsigned degree = 8;
    int threads = 0;

    for (int c; (c = getopt(argc, argv, "n:d:s:t:v")) != -1;) {
        switch (c) {
        case 'n': nodes = std::strtoul(optarg, nullptr, 0); break;
        case 'd': degree = std::strtoul(optarg, nullptr, 0); break;
        case 's': opt.sweeps = std::atoi(optarg); break;
        case 't': threads = std::atoi(optarg); break;
        case 'v': opt.verbose = true; break;
        default: usage();
        }
    }
    if (nodes < 2 || degree < 1 || opt.sweeps < 1 || threads < 0 || threads > kMaxThreads)
        usage();
    if (threads)
        omp_set_num_threads(threads);
    try {
        Graph g = optind < argc ? Graph::load(argv[optind]) : Graph::random(nodes, degree, 1);
        auto solver = std::make_unique<Solver>(g, opt);
        for (const Stage &s : stages) {
            const double t0 = omp_get_wtime();
            s.run(*solver, opt);
            if (opt.verbose)
                std::cerr << s.name << ": " << omp_get_wtime() - t0 << " s\n";
        }
        solver->report(stdout);
    } catch (const std::exception &e) {
        std::cerr << "linkrank: " << e.what() << '\n';
        return 1;
    }
    return 0;
}
