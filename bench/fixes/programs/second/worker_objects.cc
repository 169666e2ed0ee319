// Counters of workers, each in a small object of its own from the heap.
// about: WorkerStats
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#ifdef FIXED
struct alignas(64) WorkerStats {
#else
struct WorkerStats {
#endif
  std::atomic<uint64_t> processed{0};
  std::atomic<uint64_t> failed{0};
#ifdef EDIT
  uint32_t id = 0;
#endif
};

bool nextJob(uint64_t &job);
bool runJob(uint64_t job);

class Engine {
public:
  void start(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      stats_.push_back(std::make_unique<WorkerStats>());
      WorkerStats *stats = stats_.back().get();
      workers_.emplace_back([this, stats] { work(stats); });
    }
  }
  uint64_t processed() const {
    uint64_t sum = 0;
    for (const auto &one : stats_)
      sum += one->processed.load(std::memory_order_relaxed);
    return sum;
  }

private:
  void work(WorkerStats *stats) {
    uint64_t job;
    while (nextJob(job)) {
      if (runJob(job))
        stats->processed.fetch_add(1, std::memory_order_relaxed);
      else
        stats->failed.fetch_add(1, std::memory_order_relaxed);
    }
  }
  std::vector<std::unique_ptr<WorkerStats>> stats_;
  std::vector<std::thread> workers_;
};

int main() {
  Engine engine;
  engine.start(8);
  return engine.processed() == 0;
}
