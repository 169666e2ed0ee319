#pragma once
#include "partition.h"

namespace ferry {

struct Member {
  uint32_t polls = 0;
  uint32_t records = 0;
  uint32_t missed = 0;
  uint32_t seen = 0;
};

using Handler = std::function<void(const Record&)>;

// Consumers that share the partitions of a topic.
class Group {
 public:
  Group(Topic& topic, uint32_t consumers);

  bool Owns(uint32_t consumer, uint32_t partition) const;
  uint32_t Poll(uint32_t consumer, const Handler& handler, const Options& options);
  uint32_t Lag(uint32_t partition) const;
  uint32_t Check();
  uint64_t Delivered() const;
  uint32_t Rebalances() const { return rebalances_; }

 private:
  void Commit(uint32_t partition, uint32_t offset);

  struct Assignment {
    uint32_t consumers = 0;
    uint32_t max_batch = 8;
    uint32_t generation = 1;
    uint32_t checks = 0;
    uint32_t worst_lag = 0;
  };

  Topic& topic_;
  std::map<uint32_t, Member> members_;
  std::unique_ptr<std::atomic<uint32_t>[]> committed_;
  uint32_t rebalances_ = 0;
  alignas(64) Assignment assignment_;
};

}  // namespace ferry
