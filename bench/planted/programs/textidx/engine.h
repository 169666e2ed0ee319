// The threads: a feeder, indexers, searchers, a merger.
#pragma once

#include "corpus.h"
#include "index.h"

#include <condition_variable>

namespace tx {

constexpr unsigned indexers = 2;
constexpr unsigned searchers = 3;

class Barrier {
public:
    explicit Barrier(unsigned n) : wanted_(n), left_(n) {}
    void wait();

private:
    std::mutex mutex_;
    std::condition_variable turn_;
    unsigned wanted_;
    unsigned left_;
    unsigned phase_ = 0;
};

struct IndexerState {
    std::uint32_t documents = 0;
    std::uint32_t terms = 0;
    std::uint32_t full = 0;
};

struct SearchState {
    std::uint64_t score = 0;
    std::uint32_t queries = 0;
    std::uint32_t found = 0;
};

struct Command {
    std::uint32_t what = 0;
};

class Engine {
public:
    explicit Engine(long rounds);
    void run();
    void report();

private:
    void feeder();
    void indexer(unsigned n);
    void searcher(unsigned n, SearchState &own);
    void merger();
    void load(unsigned n);

    long rounds_;
    Vocabulary vocabulary_;
    Index index_;
    SlabPool<Document> pool_{256};
    std::array<std::unique_ptr<SpscQueue<Document *, 32>>, indexers> queues_;
    std::array<std::unique_ptr<RoomyQueue<Command, 4>>, searchers> commands_;
    std::array<std::unique_ptr<IndexerState>, indexers> states_;
    std::vector<SearchState> searches_;
    Barrier barrier_{indexers + searchers + 2};
    std::array<std::uint32_t, indexers> loaded_{};

    struct alignas(line_size) Control {
        std::atomic<bool> stop{false};
        std::atomic<std::uint32_t> throttle{0};
        std::uint64_t ticks = 0;                // by the merger
    } control_;

    struct alignas(line_size) MergeStats {
        std::uint64_t seen = 0;
        std::uint64_t cleared = 0;
        std::uint32_t digest = 0;
    } merge_;
};

extern std::atomic<std::uint64_t> now;
extern std::uint64_t rejected, overfull;

} // namespace tx
