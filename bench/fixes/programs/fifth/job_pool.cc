// A pool of threads: the number of waiting jobs changes with each job beside the flag that all workers look at.
// about: JobPool pending_ stopping_
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#ifdef EDIT
static int pool_trace;
#endif

class JobPool {
 public:
  explicit JobPool(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) workers_.emplace_back([this] { work(); });
  }
  ~JobPool() {
    stopping_.store(true, std::memory_order_release);
    wake_.notify_all();
    for (auto& worker : workers_) worker.join();
  }
  void submit(std::function<void()> job) {
    {
      std::lock_guard<std::mutex> guard(lock_);
      jobs_.push_back(std::move(job));
    }
    pending_.fetch_add(1, std::memory_order_relaxed);
    wake_.notify_one();
  }
  bool idle() const { return pending_.load(std::memory_order_acquire) == 0; }
  // Asked by jobs between two pieces of work.
  bool stopping() const { return stopping_.load(std::memory_order_relaxed); }

 private:
  void work() {
    while (!stopping_.load(std::memory_order_relaxed)) {
      std::function<void()> job;
      {
        std::unique_lock<std::mutex> guard(lock_);
        wake_.wait(guard, [this] { return stopping_.load(std::memory_order_relaxed) || !jobs_.empty(); });
        if (jobs_.empty()) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job();
      pending_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  std::vector<std::thread> workers_;
  std::deque<std::function<void()>> jobs_;
#ifdef FIXED
  alignas(64) std::mutex lock_;
  std::condition_variable wake_;
  alignas(64) std::atomic<long> pending_{0};
  alignas(64) std::atomic<bool> stopping_{false};
#else
  std::mutex lock_;
  std::condition_variable wake_;
  std::atomic<long> pending_{0};
  std::atomic<bool> stopping_{false};
#endif
};

static JobPool& pool() {
  static JobPool one(std::thread::hardware_concurrency());
  return one;
}

void crunch(std::vector<double>& values) {
  for (std::size_t begin = 0; begin < values.size(); begin += 4096)
    pool().submit([&values, begin] {
      for (std::size_t i = begin; i < begin + 4096 && i < values.size(); ++i) {
        if (pool().stopping()) return;
        values[i] = values[i] * values[i] + 1.0;
      }
    });
}
