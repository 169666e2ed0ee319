#pragma once
#include "group.h"
#include "mailbox.h"

namespace ferry {

// How fast a producer may send.
struct Pacer {
  uint32_t tokens = 16;
  uint32_t sent = 0;
  uint32_t waits = 0;
  uint32_t refills = 0;
  bool Take();
};

struct alignas(64) StageTotals {
  uint64_t items = 0;
  uint64_t yields = 0;
};

class Broker {
 public:
  explicit Broker(const Options& options);
  ~Broker();

  void Start();
  void Join();
  void Report() const;
  bool Complete() const;

 private:
  void ProducerLoop(uint32_t index);
  void AppenderLoop(uint32_t index);
  void ConsumerLoop(uint32_t index);
  void CoordinatorLoop();
  void Audit(uint32_t value);

  const Options& options_;
  Topic topic_;
  Group group_;
  std::array<std::unique_ptr<Mailbox<Envelope, 64>>, kAppenders> mail_;
  std::vector<std::unique_ptr<Pacer>> pacers_;
  std::vector<Handler> handlers_;
  alignas(64) std::array<std::atomic<uint32_t>, kProducers> acked_{};
  alignas(64) std::mutex audit_mutex_;
  uint64_t audit_sum_ = 0;
  uint32_t audit_count_ = 0;
  alignas(64) std::array<StageTotals, 8> totals_{};
  alignas(64) std::atomic<uint32_t> live_producers_{kProducers};
  alignas(64) std::atomic<uint32_t> live_appenders_{kAppenders};
  alignas(64) std::atomic<bool> closed_{false};
  std::vector<std::jthread> threads_;
  std::jthread coordinator_;
};

}  // namespace ferry
