#include "broker.h"

#include <cstdio>

namespace ferry {

namespace {

thread_local uint32_t rng_state = 1;

uint32_t NextRandom() {
  rng_state ^= rng_state << 13;
  rng_state ^= rng_state >> 17;
  rng_state ^= rng_state << 5;
  return rng_state;
}

// Sums up what it is given; every consumer gets a handler of its own.
Handler MakeHandler(uint32_t limit) {
  return [count = 0u, sum = 0u, largest = 0u, limit, skipped = 0u](const Record& r) mutable {
    if (r.key > limit) {
      ++skipped;
      return;
    }
    ++count;
    sum += r.value;
    if (r.value > largest) largest = r.value;
  };
}

}  // namespace

bool Pacer::Take() {
  if (tokens == 0) {
    ++waits;
    tokens = 16;
    ++refills;
    return false;
  }
  --tokens;
  ++sent;
  return true;
}

Broker::Broker(const Options& options) : options_(options), topic_("orders"), group_(topic_, kConsumers) {
  for (auto& m : mail_) m = std::make_unique<Mailbox<Envelope, 64>>();
  pacers_.reserve(kProducers);
  for (uint32_t p = 0; p < kProducers; ++p) pacers_.push_back(std::make_unique<Pacer>());
  handlers_.reserve(kConsumers);
  for (uint32_t c = 0; c < kConsumers; ++c) handlers_.push_back(MakeHandler(1u << 20));
}

Broker::~Broker() { Join(); }

void Broker::Audit(uint32_t value) {
  std::lock_guard<std::mutex> hold(audit_mutex_);
  audit_sum_ += value;
  ++audit_count_;
}

void Broker::ProducerLoop(uint32_t index) {
  rng_state = 77 + index * 1001;
  Pacer& pacer = *pacers_[index];
  StageTotals& total = totals_[index];
  for (uint32_t i = 0; i < options_.messages;) {
    if (i - acked_[index].load(std::memory_order_relaxed) > 48 || !pacer.Take()) {
      ++total.yields;
      std::this_thread::yield();
      continue;
    }
    Envelope e{index, NextRandom() & 0xffff, NextRandom() >> 16};
    while (!mail_[e.key % kAppenders]->TrySend(e)) std::this_thread::yield();
    metrics::published.fetch_add(1, std::memory_order_relaxed);
    ++i;
  }
  total.items = options_.messages;
  live_producers_.fetch_sub(1);
}

void Broker::AppenderLoop(uint32_t index) {
  Mailbox<Envelope, 64>& mail = *mail_[index];
  StageTotals& total = totals_[kProducers + index];
  Envelope e;
  for (;;) {
    bool last = live_producers_.load() == 0;
    if (!mail.TryReceive(e)) {
      if (last) break;
      ++total.yields;
      std::this_thread::yield();
      continue;
    }
    uint32_t p = index + kAppenders * ((e.key >> 4) % (kPartitions / kAppenders));
    while (group_.Lag(p) >= options_.retention) std::this_thread::yield();
    topic_.partition(p).Append(e.key, e.value);
    topic_.Account(p, e.key, sizeof(Record));
    topic_.MarkDirty(p);
    acked_[e.producer].fetch_add(1, std::memory_order_relaxed);
    metrics::appended.fetch_add(1, std::memory_order_relaxed);
    if ((e.value & 7) == 0) Audit(e.value);
    ++total.items;
  }
  live_appenders_.fetch_sub(1);
}

void Broker::ConsumerLoop(uint32_t index) {
  StageTotals& total = totals_[kProducers + kAppenders + index];
  for (;;) {
    bool last = live_appenders_.load() == 0;
    uint32_t n = group_.Poll(index, handlers_[index], options_);
    total.items += n;
    if (n == 0) {
      if (last) break;
      ++total.yields;
      std::this_thread::yield();
    }
  }
}

void Broker::CoordinatorLoop() {
  uint32_t lag = 0;
  while (!closed_.load(std::memory_order_relaxed)) {
    lag += group_.Check();
    for (uint32_t p = 0; p < kPartitions; ++p)
      if (topic_.ClearDirty(p)) topic_.partition(p).Trim(options_.retention);
    std::this_thread::yield();
  }
  totals_[kProducers + kAppenders + kConsumers].items = lag;
}

void Broker::Start() {
  coordinator_ = std::jthread([this] { CoordinatorLoop(); });
  for (uint32_t i = 0; i < kConsumers; ++i) threads_.emplace_back([this, i] { ConsumerLoop(i); });
  for (uint32_t i = 0; i < kAppenders; ++i) threads_.emplace_back([this, i] { AppenderLoop(i); });
  for (uint32_t i = 0; i < kProducers; ++i) threads_.emplace_back([this, i] { ProducerLoop(i); });
}

void Broker::Join() {
  for (auto& t : threads_)
    if (t.joinable()) t.join();
  closed_.store(true);
  if (coordinator_.joinable()) coordinator_.join();
}

bool Broker::Complete() const {
  return group_.Delivered() == uint64_t{options_.messages} * kProducers && metrics::corrupted == 0;
}

void Broker::Report() const {
  uint64_t audited = audit_count_;
  std::printf("topic %s: %llu records, %llu delivered, %llu audited\n", topic_.name().c_str(),
              static_cast<unsigned long long>(topic_.Records()),
              static_cast<unsigned long long>(group_.Delivered()),
              static_cast<unsigned long long>(audited));
  std::printf("published %u, appended %u, delivered %u, corrupted %u\n", metrics::published.load(),
              metrics::appended.load(), metrics::delivered.load(), metrics::corrupted.load());
  for (uint32_t p = 0; p < kProducers; ++p)
    std::printf("producer %u: %u sent, %u refills\n", p, pacers_[p]->sent, pacers_[p]->refills);
  std::printf("rebalances %u\n", group_.Rebalances());
}

}  // namespace ferry
