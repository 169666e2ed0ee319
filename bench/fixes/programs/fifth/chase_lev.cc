// The deque of a scheduler: its owner pushes and takes at the bottom, others steal at the top.
// about: Deque top_ bottom_
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sched {

struct Task {
  virtual ~Task() = default;
  virtual void run() = 0;
};

#ifdef EDIT
int stealAttempts = 4;
#endif

class Deque {
 public:
  explicit Deque(std::size_t capacity) : buffer_(capacity), mask_(capacity - 1) {}

  bool push(Task* task) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    const std::int64_t top = top_.load(std::memory_order_acquire);
    if (bottom - top > static_cast<std::int64_t>(mask_)) return false;
    buffer_[bottom & mask_].store(task, std::memory_order_relaxed);
    bottom_.store(bottom + 1, std::memory_order_release);
    return true;
  }

  Task* take() {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    bottom_.store(bottom, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::int64_t top = top_.load(std::memory_order_relaxed);
    if (top > bottom) {
      bottom_.store(bottom + 1, std::memory_order_relaxed);
      return nullptr;
    }
    Task* task = buffer_[bottom & mask_].load(std::memory_order_relaxed);
    if (top == bottom) {
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst)) task = nullptr;
      bottom_.store(bottom + 1, std::memory_order_relaxed);
    }
    return task;
  }

  Task* steal() {
    std::int64_t top = top_.load(std::memory_order_acquire);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (top >= bottom_.load(std::memory_order_acquire)) return nullptr;
    Task* task = buffer_[top & mask_].load(std::memory_order_relaxed);
    return top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst) ? task : nullptr;
  }

 private:
#ifdef FIXED
  alignas(64) std::atomic<std::int64_t> top_{0};
  alignas(64) std::atomic<std::int64_t> bottom_{0};
  alignas(64) std::vector<std::atomic<Task*>> buffer_;
#else
  std::atomic<std::int64_t> top_{0};
  std::atomic<std::int64_t> bottom_{0};
  std::vector<std::atomic<Task*>> buffer_;
#endif
  std::size_t mask_;
};

class Scheduler {
 public:
  explicit Scheduler(std::size_t workers) {
    for (std::size_t i = 0; i < workers; ++i) deques_.push_back(std::make_unique<Deque>(1024));
  }
  void spawn(std::size_t self, Task* task) {
    if (!deques_[self]->push(task)) task->run();
  }
  void runOne(std::size_t self) {
    Task* task = deques_[self]->take();
    for (std::size_t i = 1; task == nullptr && i < deques_.size(); ++i)
      task = deques_[(self + i) % deques_.size()]->steal();
    if (task != nullptr) task->run();
  }

 private:
  std::vector<std::unique_ptr<Deque>> deques_;
};

Scheduler* makeScheduler(std::size_t workers) { return new Scheduler(workers); }
void spawn(Scheduler* scheduler, std::size_t self, Task* task) { scheduler->spawn(self, task); }
void work(Scheduler* scheduler, std::size_t self) {
  for (;;) scheduler->runOne(self);
}

}  // namespace sched
