// Atomic counters of a static object; ONE has both threads count in the same.
#include <atomic>
#include <thread>
struct Metrics {
  std::atomic<long> requests{0};
  std::atomic<long> replies{0};
};
alignas(64) static Metrics metrics;
int main() {
  std::thread a([] {
    for (int i = 0; i < 15000000; i++)
      metrics.requests.fetch_add(1, std::memory_order_relaxed);
  });
  std::thread b([] {
    for (int i = 0; i < 15000000; i++)
#ifdef ONE
      metrics.requests.fetch_add(1, std::memory_order_relaxed);
#else
      metrics.replies.fetch_add(1, std::memory_order_relaxed);
#endif
  });
  a.join(), b.join();
}
