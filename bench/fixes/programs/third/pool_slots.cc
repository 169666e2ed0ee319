// Tasks done by each worker of a pool, in a vector at the worker's number, which its method is started with.
// about: done_ Done
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

class Pool {
public:
  explicit Pool(unsigned workers) : done_(workers) {
    for (unsigned i = 0; i < workers; ++i)
      threads_.emplace_back([this, i] { loop(i); });
  }
  void stop() { stopped_.store(true, std::memory_order_release); }
  uint64_t total() const {
    uint64_t sum = 0;
    for (const Done &one : done_)
      sum += one.tasks;
    return sum;
  }

private:
#ifdef FIXED
  struct alignas(64) Done {
#else
  struct Done {
#endif
    uint64_t tasks = 0;
    uint64_t nanoseconds = 0;
  };
  uint64_t runNext();
  void loop(unsigned index) {
    while (!stopped_.load(std::memory_order_acquire)) {
      done_[index].nanoseconds += runNext();
      ++done_[index].tasks;
    }
  }
  std::vector<Done> done_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopped_{false};
#ifdef EDIT
  unsigned spin_ = 100;
#endif
};

Pool *makePool(unsigned workers) { return new Pool(workers); }
