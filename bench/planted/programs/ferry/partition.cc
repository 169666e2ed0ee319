#include "partition.h"

#include <algorithm>

namespace ferry {

void Partition::Append(uint32_t key, uint32_t value) {
  uint32_t at = end_.load(std::memory_order_relaxed);
  Record& r = ring_[at % kRing];
  r.key = key;
  r.value = value;
  r.stamp = at;
  bytes_ += sizeof(Record);
  end_.store(at + 1, std::memory_order_release);
}

uint32_t Partition::Fetch(uint32_t from, Record* out, uint32_t max) {
  fetches_.fetch_add(1, std::memory_order_relaxed);
  uint32_t end = end_.load(std::memory_order_acquire), n = 0;
  while (from + n != end && n < max) {
    const Record& r = ring_[(from + n) % kRing];
    out[n] = r;
    ++n;
  }
  if (n == 0) ++empty_fetches_;
  return n;
}

void Partition::Trim(uint32_t keep) {
  uint32_t end = end_.load(std::memory_order_acquire);
  if (end > keep) start_.store(end - keep, std::memory_order_relaxed);
}

Topic::Topic(std::string name) : name_(std::move(name)) {
  for (uint32_t p = 0; p < kPartitions; ++p) partitions_.push_back(std::make_unique<Partition>(p));
}

void Topic::Account(uint32_t p, uint32_t key, uint32_t bytes) {
  PartitionStat& s = stats_[p];
  ++s.records;
  s.bytes += bytes;
  s.max_key = std::max(s.max_key, key);
}

void Topic::MarkDirty(uint32_t p) {
  dirty_[p].store(1, std::memory_order_relaxed);
}

bool Topic::ClearDirty(uint32_t p) {
  if (!dirty_[p].load(std::memory_order_relaxed)) return false;
  dirty_[p].store(0, std::memory_order_relaxed);
  return true;
}

uint64_t Topic::Records() const {
  uint64_t n = 0;
  for (const PartitionStat& s : stats_) n += s.records;
  return n;
}

}  // namespace ferry
