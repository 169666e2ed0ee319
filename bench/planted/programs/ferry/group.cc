#include "group.h"

namespace ferry {

Group::Group(Topic& topic, uint32_t consumers)
    : topic_(topic), committed_(std::make_unique<std::atomic<uint32_t>[]>(kPartitions)) {
  for (uint32_t c = 0; c < consumers; ++c) members_.try_emplace(c);
  assignment_.consumers = consumers;
}

bool Group::Owns(uint32_t consumer, uint32_t partition) const {
  return partition % assignment_.consumers == consumer;
}

void Group::Commit(uint32_t partition, uint32_t offset) {
  committed_[partition].store(offset, std::memory_order_release);
}

uint32_t Group::Poll(uint32_t consumer, const Handler& handler, const Options& options) {
  Record batch[16];
  uint32_t got = 0;
  Member& m = members_.find(consumer)->second;
  for (uint32_t p = 0; p < kPartitions; ++p) {
    if (!Owns(consumer, p)) continue;
    uint32_t from = committed_[p].load(std::memory_order_relaxed);
    uint32_t n = topic_.partition(p).Fetch(from, batch, assignment_.max_batch);
    for (uint32_t i = 0; i < n; ++i) {
      if (options.verify && batch[i].stamp != from + i) metrics::corrupted.fetch_add(1);
      handler(batch[i]);
      metrics::delivered.fetch_add(1, std::memory_order_relaxed);
    }
    if (n) Commit(p, from + n);
    got += n;
  }
  ++m.polls;
  m.records += got;
  return got;
}

uint32_t Group::Lag(uint32_t partition) const {
  return topic_.partition(partition).end() - committed_[partition].load(std::memory_order_acquire);
}

// A round of the coordinator: who polls, and how far behind are they?
uint32_t Group::Check() {
  uint32_t lag = 0;
  for (auto& [id, m] : members_) {
    uint32_t polls = *static_cast<volatile uint32_t*>(&m.polls);
    if (polls == m.seen) ++m.missed;
    m.seen = polls;
  }
  for (uint32_t p = 0; p < kPartitions; ++p) lag += Lag(p);
  if (lag > assignment_.worst_lag) assignment_.worst_lag = lag;
  ++assignment_.checks;
  return lag;
}

uint64_t Group::Delivered() const {
  uint64_t n = 0;
  for (const auto& [id, m] : members_) n += m.records;
  return n;
}

}  // namespace ferry
