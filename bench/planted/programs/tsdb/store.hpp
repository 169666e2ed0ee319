// The store: a catalog of series and what the threads share beside it.
#pragma once

#include <map>
#include <string>
#include <thread>

#include "observer.hpp"
#include "series.hpp"

namespace tsdb {

struct Options {
    std::size_t chunkRows = 256;
    std::uint32_t scanRows = 24;
    bool verify = true;
};

// What an ingest thread has done; one for each, by number.
struct IngestSlot {
    std::uint64_t rows = 0;
    std::uint64_t rolled = 0;
    std::int64_t latest = 0;
};

struct alignas(64) QuerySlot {
    std::uint64_t queries = 0;
    std::int64_t checksum = 0;
};

class Catalog {
public:
    Series* add(const std::string& name, std::size_t chunkRows);
    Series* find(std::uint32_t key);
    std::uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
    std::size_t size() const { return bySeq_.size(); }
    std::uint64_t lookups() const { return lookups_; }

private:
    std::mutex mutex_;
    std::uint64_t lookups_ = 0;                  // with the mutex held
    std::atomic<std::uint32_t> generation_{1};   // looked at without it
    std::vector<Series*> bySeq_;
    std::map<std::string, std::unique_ptr<Series>> byName_;
};

class Store {
public:
    Store(Options options, unsigned ingesters, unsigned queriers);

    void ingest(unsigned slot, std::uint64_t rounds);
    void query(unsigned slot);
    void watch();
    void stop() { stopping_.store(true, std::memory_order_release); }
    void report() const;

    static std::uint64_t sequences() { return nextSequence_.load(); }

private:
    std::int64_t sample(unsigned slot, std::uint64_t round) const;

    static std::atomic<std::uint64_t> nextSequence_;  // ingest
    static std::atomic<std::uint64_t> scannedRows_;   // queries
    static std::uint64_t failures_;
    static const char* banner_;

    Options options_;
    std::atomic<std::uint32_t> openQueries_{0};
    std::atomic<bool> stopping_{false};
    std::uint64_t watched_ = 0;
    std::unique_ptr<Catalog> catalog_;
    std::vector<IngestSlot> ingestSlots_;
    std::vector<QuerySlot> querySlots_;
    std::vector<Series*> hot_;
    std::vector<std::unique_ptr<Observer>> observers_;
};

}  // namespace tsdb
