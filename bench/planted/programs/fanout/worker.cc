#include "worker.h"

namespace fanout {

void Worker::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Worker::Join() {
  if (thread_.joinable()) thread_.join();
}

bool Worker::Check() {
  const uint32_t now = beats_.load(std::memory_order_relaxed);
  ++checks_;
  if (now == last_beats_) {
    ++late_;
    return false;
  }
  last_beats_ = now;
  return true;
}

void StartGate::Arrive() {
  missing_.fetch_sub(1);
  while (missing_.load() > 0) std::this_thread::yield();
}

}  // namespace fanout
