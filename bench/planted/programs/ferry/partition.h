#pragma once
#include "types.h"

namespace ferry {

// An append-only log kept in a ring; one appender, any number of readers.
class Partition {
 public:
  static constexpr uint32_t kRing = 256;

  explicit Partition(uint32_t id) : id_(id) {}

  void Append(uint32_t key, uint32_t value);
  uint32_t Fetch(uint32_t from, Record* out, uint32_t max);
  void Trim(uint32_t keep);

  uint32_t id() const { return id_; }
  uint32_t end() const { return end_.load(std::memory_order_acquire); }
  uint32_t start() const { return start_.load(std::memory_order_relaxed); }
  uint32_t truncated() const { return truncated_; }

 private:
  alignas(64) std::atomic<uint32_t> end_{0};
  uint32_t bytes_ = 0;
  std::atomic<uint32_t> fetches_{0};
  uint32_t empty_fetches_ = 0;
  uint32_t truncated_ = 0;
  uint32_t id_;
  alignas(64) std::atomic<uint32_t> start_{0};
  alignas(64) std::array<Record, kRing> ring_{};
};

struct PartitionStat {
  uint32_t records = 0;
  uint32_t bytes = 0;
  uint32_t max_key = 0;
  uint32_t rejected = 0;
};

class Topic {
 public:
  explicit Topic(std::string name);
  Partition& partition(uint32_t p) { return *partitions_[p]; }
  const std::string& name() const { return name_; }

  // by the appender of the partition
  void Account(uint32_t p, uint32_t key, uint32_t bytes);
  // partitions with news; the coordinator clears
  void MarkDirty(uint32_t p);
  bool ClearDirty(uint32_t p);
  uint64_t Records() const;

 private:
  std::string name_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  alignas(64) std::array<PartitionStat, kPartitions> stats_{};
  alignas(64) std::array<std::atomic<uint8_t>, kPartitions> dirty_{};
};

}  // namespace ferry
