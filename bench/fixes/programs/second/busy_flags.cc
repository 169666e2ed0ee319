// A pool whose workers say in an array of flags, at their number, whether they are busy.
// about: busy_
#include <array>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

using Task = std::function<void()>;
Task takeTask(unsigned worker);

#ifdef FIXED
struct alignas(64) Flag {
#else
struct Flag {
#endif
  std::atomic<bool> value{false};
};

class WorkerPool {
public:
  explicit WorkerPool(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      threads_.emplace_back(&WorkerPool::run, this, i);
  }
  ~WorkerPool() {
    stop_.store(true);
    for (auto &thread : threads_)
      thread.join();
  }
  unsigned busy() const {
    unsigned n = 0;
    for (unsigned i = 0; i < threads_.size(); ++i)
      n += busy_[i].value.load(std::memory_order_relaxed);
    return n;
  }

private:
  void run(unsigned index) {
    while (!stop_.load(std::memory_order_relaxed)) {
      Task task = takeTask(index);
      if (!task)
        continue;
      busy_[index].value.store(true, std::memory_order_relaxed);
      task();
      busy_[index].value.store(false, std::memory_order_relaxed);
    }
  }

  std::array<Flag, 64> busy_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_{false};
#ifdef EDIT
  unsigned spins_ = 64;
#endif
};

unsigned serve(unsigned count) {
  WorkerPool pool(count);
  return pool.busy();
}
