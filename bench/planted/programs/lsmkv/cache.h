// Block cache: buckets, each protected by a one byte latch.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace lsmkv {

class Latch {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

class BlockCache {
 public:
  static constexpr std::size_t kBuckets = 32;

  BlockCache() : buckets_(new Bucket[kBuckets]) {}

  bool Lookup(std::uint32_t block, std::uint64_t* value) {
    const std::size_t b = block % kBuckets;
    Bucket& bucket = buckets_[b];
    latches_[b].lock();
    const bool hit = bucket.block == block;
    if (hit) {
      *value = bucket.value;
      bucket.uses++;
    }
    latches_[b].unlock();
    return hit;
  }

  void Insert(std::uint32_t block, std::uint64_t value) {
    const std::size_t b = block % kBuckets;
    latches_[b].lock();
    if (buckets_[b].block != 0) evictions_.fetch_add(1, std::memory_order_relaxed);
    buckets_[b].block = block;
    buckets_[b].value = value;
    latches_[b].unlock();
  }

  std::uint64_t evictions() const { return evictions_; }
  std::uint64_t uses() const {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) n += buckets_[i].uses;
    return n;
  }

 private:
  struct Bucket {
    std::uint32_t block = 0;
    std::uint32_t uses = 0;
    std::uint64_t value = 0;
  };

  std::unique_ptr<Bucket[]> buckets_;
  alignas(64) std::array<Latch, kBuckets> latches_;
  alignas(64) std::atomic<std::uint64_t> evictions_{0};
};

}  // namespace lsmkv
