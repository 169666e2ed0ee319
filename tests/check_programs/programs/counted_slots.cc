// Slots on the heap at numbers that threads take from counters, in C++: of records, and of plain numbers.
// ARGS: -std=c++20
// expect: packed-thread-slots high Pool.counts_[]
// expect: packed-thread-slots high Slot.n
// expect: packed-thread-slots high Single.n
// expect: packed-thread-slots medium Pool.some_[]
// expect: packed-thread-slots medium Held.n
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
struct Slot { unsigned long n = 0, more = 0; };
struct Single { unsigned long n = 0, more = 0; };
struct Held { unsigned long n = 0, more = 0; };
class Pool {
  alignas(64) std::mutex lock_;
  int next_ = 0;
  std::atomic<int> taken_{0};
  alignas(64) std::atomic<bool> stop_{false};
  unsigned long *counts_ = new unsigned long[16]();
  unsigned long *some_;
  Slot *slots_;
  std::unique_ptr<Single[]> singles_ = std::make_unique<Single[]>(16);
  std::vector<Held> held_;
  alignas(64) std::vector<std::thread> threads_;
  void work() {
    int locked, atomically = taken_++;
    {
      std::lock_guard<std::mutex> guard(lock_);
      locked = next_++;
    }
    while (!stop_.load(std::memory_order_relaxed)) {
      counts_[locked]++;
      some_[locked]++;
      slots_[atomically].n++;
      singles_[atomically].n++;
      held_[atomically].n++;
    }
  }

public:
  explicit Pool(size_t some) : some_(new unsigned long[some]()), held_(16) {
    slots_ = new Slot[16];
    for (int i = 0; i < 16; i++)
      threads_.emplace_back([this] { work(); });
  }
  void stop() {
    stop_ = true;
    for (auto &t : threads_)
      t.join();
  }
};
int main(int argc, char **) {
  Pool pool(static_cast<size_t>(argc));
  pool.stop();
}
