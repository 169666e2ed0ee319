// Workers of a scheduler, each with a deque of its own in one vector, from which the others steal.
// about: Worker
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

struct Task {
  void (*run)(Task *);
};

#ifdef FIXED
struct alignas(64) Worker {
#else
struct Worker {
#endif
  std::atomic<int64_t> top{0};
  std::atomic<int64_t> bottom{0};
  Task **tasks = nullptr;
  uint64_t mask = 1023;
  uint64_t executed = 0;
  uint64_t random = 88172645463325252ull;
  uint32_t stolen = 0;
#ifdef EDIT
  uint32_t node = 0;
#endif
  std::atomic<bool> idle{false};
  uint64_t slept = 0;
};

class Scheduler {
public:
  explicit Scheduler(unsigned count) : workers_(count) {
    for (unsigned i = 0; i < count; ++i)
      threads_.emplace_back(&Scheduler::run, this, i);
  }

private:
  Task *pop(Worker &w) {
    int64_t b = w.bottom.load(std::memory_order_relaxed) - 1;
    w.bottom.store(b, std::memory_order_seq_cst);
    int64_t t = w.top.load(std::memory_order_seq_cst);
    if (t > b) {
      w.bottom.store(b + 1, std::memory_order_relaxed);
      return nullptr;
    }
    return w.tasks[uint64_t(b) & w.mask];
  }
  Task *steal(Worker &from) {
    int64_t t = from.top.load(std::memory_order_acquire);
    if (t >= from.bottom.load(std::memory_order_acquire))
      return nullptr;
    Task *task = from.tasks[uint64_t(t) & from.mask];
    return from.top.compare_exchange_strong(t, t + 1) ? task : nullptr;
  }
  void run(unsigned number) {
    Worker &self = workers_[number];
    while (!stopping_.load(std::memory_order_relaxed)) {
      Task *task = pop(self);
      if (!task) {
        self.random ^= self.random << 13;
        task = steal(workers_[self.random % workers_.size()]);
        self.stolen += task != nullptr;
      }
      if (!task) {
        self.idle.store(true, std::memory_order_relaxed);
        ++self.slept;
        std::this_thread::yield();
        continue;
      }
      task->run(task);
      ++self.executed;
    }
  }
  std::vector<Worker> workers_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopping_{false};
};

Scheduler *make_scheduler(unsigned count) { return new Scheduler(count); }
