#include "solver.hh"

#include <algorithm>
#include <cmath>

namespace linkrank {

ThreadTally tallies[kMaxThreads];
long path_hits[8];

namespace {

// Runs over the whole program, reset by nobody.
long sweeps_done;
double last_delta;

inline std::uint32_t mix(std::uint32_t x)
{
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
}

} // namespace

Solver::Solver(const Graph &g, const Options &opt)
    : graph_(g), opt_(opt), rank_(g.size(), 1.0 / g.size()), next_(g.size()),
      partial_(kMaxThreads), degree_hist_(kMaxThreads), padded_(kMaxThreads),
      groups_(g.size()), seen_(g.size()), energy_(g.size(), 1.0),
      frontier_items_(new node_t[g.size() + 1])
{
    for (omp_lock_t &l : locks_)
        omp_init_lock(&l);
    for (node_t v = 0; v < g.size(); ++v)
        groups_[v] = {v, 0, 1.0, 0.0};
    source_ = rank_.data();
    frontier_.items = frontier_items_.get();
    frontier_.limit = g.size();
}

Solver::~Solver()
{
    for (omp_lock_t &l : locks_)
        omp_destroy_lock(&l);
}

// Power iteration.  Nodes are dealt out in turn, so that hubs, which have
// small numbers in crawled graphs, do not all end up with one thread.
int Solver::rank()
{
    const node_t n = graph_.size();
    int sweep = 0;
    double delta = 1;

    for (; sweep < opt_.sweeps && delta > opt_.epsilon; ++sweep) {
        delta = 0;
#pragma omp parallel
        {
            const int me = omp_get_thread_num();
            ThreadTally &tally = tallies[me];
            partial_[me] = 0;

#pragma omp for schedule(static)
            for (node_t v = 0; v < n; ++v)
                next_[v] = (1 - opt_.damping) / n;

#pragma omp for schedule(static, 1)
            for (node_t v = 0; v < n; ++v) {
                double sum = 0;
                each_edge(v, [&](node_t u) {
                    sum += rank_[u] / (1 + graph_.degree(u));
                    tally.edges++;
                    degree_hist_[me][std::min(9u, graph_.degree(u))]++;
                });
                next_[v] += opt_.damping * sum;
                partial_[me] += std::fabs(next_[v] - rank_[v]);
                tally.nodes++;
                tally.moved += sum;
                padded_[me].nodes++;
            }
#pragma omp for schedule(static) reduction(+ : delta)
            for (node_t v = 0; v < n; ++v)
                delta += std::fabs(next_[v] - rank_[v]);
#pragma omp single
            {
                sweeps_done++;
                last_delta = delta;
            }
        }
        rank_.swap(next_);
        source_ = rank_.data();
    }
    return sweep;
}

// Breadth first search; nodes found are appended to the shared frontier.
void Solver::search(node_t root)
{
    std::fill(seen_.begin(), seen_.end(), 0);
    root %= graph_.size();
    frontier_.items[0] = root;
    frontier_.tail = 1;
    seen_[root] = 1;
    std::size_t begin = 0, end = 1;
    while (begin < end) {
#pragma omp parallel for schedule(static, 4)
        for (std::size_t i = begin; i < end; ++i) {
            const node_t v = frontier_.items[i];
            each_edge(v, [&](node_t u) {
                std::uint8_t was;
#pragma omp atomic capture
                { was = seen_[u]; seen_[u] = 1; }
                if (was)
                    return;
                std::size_t at;
#pragma omp atomic capture
                at = frontier_.tail++;
                if (at < frontier_.limit)
                    frontier_.items[at] = u;
                padded_[omp_get_thread_num()].pushes++;
            });
        }
        begin = end;
        end = std::min(frontier_.tail, frontier_.limit);
        frontier_.level++;
    }
}

// Label propagation and weight sums at the same time: the sums are only a
// hint, so they need not wait for the labels.
void Solver::communities(int rounds)
{
    const node_t n = graph_.size();
#pragma omp parallel sections
    {
#pragma omp section
        {
            for (int r = 0; r < rounds; ++r)
                for (node_t v = 0; v < n; ++v) {
                    std::uint32_t best = groups_[v].label;
                    each_edge(v, [&](node_t u) { best = std::min(best, groups_[u].label); });
                    if (best != groups_[v].label || (v + r) % 4 == 0) {
                        groups_[v].label = best;
                        groups_[v].changes++;
                    }
                }
        }
#pragma omp section
        {
            for (int r = 0; r < rounds; ++r)
                for (node_t v = 0; v < n; ++v)
                    each_edge(v, [&](node_t u) {
                        groups_[v].inner += groups_[u].weight * 0.01;
                        groups_[v].weight *= 0.999;
                    });
        }
    }
}

// Both scans look at a different rotation of the nodes in each pass.
void Solver::summarize(int passes)
{
    const node_t n = graph_.size();
#pragma omp parallel sections
    {
#pragma omp section
        for (node_t i = 0; i < n * passes; ++i) {
            const node_t v = i % n;
            if (graph_.degree(v) == 0)
                summary_.sinks.fetch_add(1, std::memory_order_relaxed);
            each_edge(v, [&](node_t u) {
                if (u % 8 == v % 8)
                    summary_.loops.fetch_add(1, std::memory_order_relaxed);
            });
        }
#pragma omp section
        for (node_t i = 0; i < n * passes; ++i) {
            const node_t v = (i + i / n) % n;
            each_edge(v, [&](node_t u) {
                summary_.checked.fetch_add(1, std::memory_order_relaxed);
                if (std::find(graph_.begin(u), graph_.end(u), v) != graph_.end(u))
                    summary_.mutual.fetch_add(1, std::memory_order_relaxed);
            });
        }
    }
}

// Pushes part of each node's energy to its neighbours under striped locks.
void Solver::spread(int rounds)
{
    const node_t n = graph_.size();
    for (int r = 0; r < rounds; ++r) {
#pragma omp parallel for schedule(static)
        for (node_t v = 0; v < n; ++v) {
            const double part = step_ * source_[v];
            each_edge(v, [&](node_t u) {
                omp_lock_t *l = &locks_[u / 8 % kLocks];
                omp_set_lock(l);
                energy_[u] += part;
                omp_unset_lock(l);
                if (part < 0) {
#pragma omp critical
                    bad_weights_++;
                }
            });
#pragma omp atomic
            relaxations_++;
        }
    }
}

// Random walks, one task for each walker.
void Solver::paths(int samples)
{
    const node_t n = graph_.size();
#pragma omp parallel
#pragma omp single
    for (int w = 0; w < 8; ++w) {
#pragma omp task firstprivate(w)
        {
            std::uint32_t x = 0x9e37u + w;
            node_t v = w % n;
            for (int s = 0; s < samples; ++s) {
                x = mix(x);
                const unsigned d = graph_.degree(v);
                if (d == 0 || x % 16 == 0) {
                    v = x % n;
                    continue;
                }
                v = graph_.begin(v)[x % d];
                if (v % 3 == 0)
                    path_hits[w]++;
            }
        }
    }
}

void Solver::report(std::FILE *f) const
{
    node_t top = 0;
    for (node_t v = 1; v < graph_.size(); ++v)
        if (rank_[v] > rank_[top])
            top = v;
    std::fprintf(f, "top node %u rank %.6f, %ld sweeps, delta %g\n", top, rank_[top],
                 sweeps_done, last_delta);
    for (int t = 0; t < omp_get_max_threads() && t < kMaxThreads; ++t)
        std::fprintf(f, "thread %d: %ld nodes, %ld edges, moved %.3f, change %.3g, pushes %ld, "
                        "full %u\n",
                     t, tallies[t].nodes, tallies[t].edges, tallies[t].moved, partial_[t],
                     padded_[t].pushes, degree_hist_[t][9]);
    std::fprintf(f, "reached %zu in %d levels; mutual %llu of %llu, sinks %llu, loops %llu\n",
                 frontier_.tail, frontier_.level, (unsigned long long)summary_.mutual,
                 (unsigned long long)summary_.checked, (unsigned long long)summary_.sinks,
                 (unsigned long long)summary_.loops);
    std::uint32_t changes = 0;
    double inner = 0, energy = 0;
    for (node_t v = 0; v < graph_.size(); ++v) {
        changes += groups_[v].changes;
        inner += groups_[v].inner;
        energy += energy_[v];
    }
    std::fprintf(f, "labels changed %u times, inner %.4f, energy %.4f, relaxations %llu, bad %d\n",
                 changes, inner, energy, (unsigned long long)relaxations_, bad_weights_);
    long hits = 0;
    for (long h : path_hits)
        hits += h;
    std::fprintf(f, "walks: %ld hits\n", hits);
}

} // namespace linkrank
