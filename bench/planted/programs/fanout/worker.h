#ifndef FANOUT_WORKER_H_
#define FANOUT_WORKER_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace fanout {

// A thread with a pulse that the watchdog looks at.
class Worker {
 public:
  explicit Worker(std::string name) : name_(std::move(name)) {}
  virtual ~Worker() = default;

  void Start();
  void Join();
  const std::string& name() const { return name_; }

  // Watchdog side.
  bool Check();
  uint32_t checks() const { return checks_; }
  uint32_t late() const { return late_; }

 protected:
  virtual void Run() = 0;
  void Beat() {
    beats_.store(beats_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

 private:
  std::string name_;
  std::thread thread_;
  std::atomic<uint32_t> beats_{0};
  uint32_t last_beats_ = 0;
  uint32_t checks_ = 0;
  uint32_t late_ = 0;
};

// Threads wait here until all have come.
class StartGate {
 public:
  explicit StartGate(int expected) : missing_(expected) {}
  void Arrive();

 private:
  std::atomic<int> missing_;
};

}  // namespace fanout

#endif  // FANOUT_WORKER_H_
