// A counter in shards of sixteen bytes, of which each thread has one; PAD
// makes a shard a line.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>
#ifdef PAD
#define SHARD 64
#else
#define SHARD 16
#endif
class Counter {
  struct alignas(SHARD) Shard {
    std::atomic<unsigned long> value{0};
  };
  std::unique_ptr<Shard[]> shards;
  unsigned count;

public:
  explicit Counter(unsigned threads);
  void add(unsigned thread, unsigned long n) {
    shards[thread % count].value.fetch_add(n, std::memory_order_relaxed);
  }
  unsigned long sum() const {
    unsigned long all = 0;
    for (unsigned i = 0; i < count; ++i)
      all += shards[i].value;
    return all;
  }
};
Counter::Counter(unsigned threads)
    : shards(std::make_unique<Shard[]>(threads)), count(threads) {}
int main() {
  Counter counter(4);
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < 2; ++t)
    pool.emplace_back([&counter, t] {
      for (int i = 0; i < 40'000'000; ++i)
        counter.add(t + 1, 1);
    });
  for (auto &one : pool)
    one.join();
  return counter.sum() == 80'000'000 ? 0 : 1;
}
