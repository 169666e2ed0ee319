// The index: shards of postings, segments, the result cache.
#pragma once

#include "containers.h"

#include <mutex>

namespace tx {

struct Posting {
    std::uint32_t hash = 0;
    std::uint32_t last = 0;
    std::atomic<std::uint32_t> frequency{0};    // by the indexers
    std::atomic<std::uint32_t> asked{0};        // by the searchers
};

class Shard {
public:
    void open(std::uint32_t bits);
    Posting *add(std::uint32_t hash, std::uint32_t id);
    Posting *find(std::uint32_t hash);

private:
    SpinLock lock_;
    std::uint32_t used_ = 0;
    std::uint32_t mask_ = 0;
    std::uint32_t newest_ = 0;
    std::unique_ptr<Posting[]> slots_;
};

// What the merger publishes; searchers hold it while they look.
class Segment : public Counted<Segment> {
public:
    Segment(std::uint32_t base, std::uint32_t boost) : base_(base), boost_(boost) {}
    std::uint32_t base() const { return base_; }
    std::uint32_t boost() const { return boost_; }

private:
    std::uint32_t base_;
    std::uint32_t boost_;
};

class SegmentList {
public:
    SegmentList();
    ~SegmentList();
    const Segment *live() const { return live_.load(std::memory_order_acquire); }
    void merged() { merges_.fetch_add(1, std::memory_order_relaxed); }
    std::uint32_t merges() const { return merges_.load(); }

private:
    std::atomic<const Segment *> live_;
    std::atomic<std::uint32_t> merges_{0};
};

class ResultCache {
public:
    bool get(std::uint32_t key, std::uint32_t &value);
    void put(std::uint32_t key, std::uint32_t value);
    void age() { epoch_.fetch_add(1, std::memory_order_relaxed); }
    std::uint32_t epoch() const { return epoch_.load(std::memory_order_relaxed); }

private:
    std::mutex mutex_;
    std::uint32_t hits_ = 0;
    std::uint32_t misses_ = 0;
    std::atomic<std::uint32_t> epoch_{0};       // by the merger, without the lock
    std::array<std::pair<std::uint32_t, std::uint32_t>, 64> entries_{};
};

// The best scores ever; all of it under its lock.
class TopList {
public:
    void offer(std::uint32_t score);
    std::uint32_t best();

private:
    std::mutex mutex_;
    std::uint32_t offers_ = 0;
    std::array<std::uint32_t, 8> scores_{};
};

constexpr unsigned shard_count = 4;

class Index {
public:
    Index();
    Shard &shard(std::uint32_t hash) { return shards_[(hash >> 7) % shard_count]; }
    SegmentList &segments() { return segments_; }
    ResultCache &cache() { return cache_; }
    TopList &top() { return top_; }

private:
    alignas(line_size) std::array<Shard, shard_count> shards_;
    alignas(line_size) SegmentList segments_;
    alignas(line_size) ResultCache cache_;
    alignas(line_size) TopList top_;
};

// Which parts were written since the merger last looked: one byte for each.
extern std::array<std::atomic<std::uint8_t>, 32> touched;

} // namespace tx
