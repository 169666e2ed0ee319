// solver.hh - PageRank, label propagation, breadth first search, triangles.
#pragma once

#include <omp.h>

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "graph.hh"

namespace linkrank {

constexpr int kMaxThreads = 16;
constexpr int kLocks = 16;

struct Options {
    double damping = 0.85;
    double epsilon = 1e-15;
    int sweeps = 40;
    int chunk = 1;
    bool verbose = false;
};

// What a thread did; printed at the end.
struct ThreadTally {
    long nodes = 0;
    long edges = 0;
    double moved = 0;
};

struct alignas(64) PaddedTally {
    long nodes = 0;
    long pushes = 0;
};

// Frontier of the search: a shared array filled through a shared tail.
struct Frontier {
    node_t *items = nullptr;
    std::size_t limit = 0;
    std::size_t tail = 0;
    int level = 0;
};

struct Summary {
    std::atomic<std::uint64_t> sinks{0};       // by the degree scan
    std::atomic<std::uint64_t> loops{0};
    std::atomic<std::uint64_t> mutual{0};      // by the reciprocity scan
    std::atomic<std::uint64_t> checked{0};
};

// Community record: its label settles while its weight is still summed.
struct Community {
    std::uint32_t label;
    std::uint32_t changes;
    double weight;
    double inner;
};

class Solver {
public:
    Solver(const Graph &g, const Options &opt);
    ~Solver();
    Solver(const Solver &) = delete;
    Solver &operator=(const Solver &) = delete;

    int rank();
    void search(node_t root);
    void communities(int rounds);
    void summarize(int passes);
    void spread(int rounds);
    void paths(int samples);
    void report(std::FILE *f) const;

private:
    template <typename Visit> void each_edge(node_t v, Visit &&visit) const
    {
        for (const node_t *p = graph_.begin(v), *e = graph_.end(v); p != e; ++p)
            visit(*p);
    }

    const Graph &graph_;
    Options opt_;
    std::vector<double> rank_, next_;
    std::vector<double> partial_;              // one per thread
    std::vector<std::array<unsigned, 10>> degree_hist_;
    std::vector<PaddedTally> padded_;
    std::vector<Community> groups_;
    std::vector<std::uint8_t> seen_;
    std::vector<double> energy_;
    std::unique_ptr<node_t[]> frontier_items_;
    // The search state of this solver, in one block.
    alignas(64) Frontier frontier_;
    alignas(64) Summary summary_;
    // Relaxation: step limit and counters.
    alignas(64) double step_ = 0.5;
    std::uint64_t relaxations_ = 0;
    const double *source_ = nullptr;
    int bad_weights_ = 0;
    alignas(64) omp_lock_t locks_[kLocks];
};

extern ThreadTally tallies[kMaxThreads];
extern long path_hits[8];

} // namespace linkrank
