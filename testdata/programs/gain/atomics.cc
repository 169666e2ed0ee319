// Statistics as std::atomic, two of them for each of two threads, in one
// object.
#include "apart.h"

#include <atomic>

struct Statistics {
  ONE_LINE std::atomic<long> hits{0};
  std::atomic<long> probes{0};
  APART std::atomic<long> evictions{0};
  std::atomic<long> scans{0};
};

static Statistics statistics;

static void *look_up(void *) {
  uint64_t key = 1;
  for (int i = 0; i < 20000000; i++) {
    key = compute(key, 8);
    statistics.probes.fetch_add(1, std::memory_order_relaxed);
    if (key >> 62)
      statistics.hits.fetch_add(1, std::memory_order_relaxed);
  }
  return nullptr;
}

static void *evict(void *) {
  uint64_t key = 2;
  for (int i = 0; i < 20000000; i++) {
    key = compute(key, 8);
    statistics.scans.fetch_add(1, std::memory_order_relaxed);
    if (key >> 63)
      statistics.evictions.fetch_add(1, std::memory_order_relaxed);
  }
  return nullptr;
}

static void *start(void *number) {
  return number ? evict(number) : look_up(number);
}

int main() {
  run_threads(start, 2);
  printf("%ld %ld\n", statistics.probes.load(), statistics.scans.load());
}
