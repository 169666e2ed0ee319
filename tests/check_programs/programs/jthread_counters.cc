// ARGS: -std=c++20
// Two atomics, written by lambdas on two threads.
// expect: independent-writers high stats.received stats.sent
// expect: aligned-tail-free low stats
#include <atomic>
#include <thread>
struct Stats {
  std::atomic<long> received{0};
  std::atomic<long> sent{0};
};
alignas(64) static Stats stats;
int main() {
  std::jthread a([] {
    for (int i = 0; i < 1000000; i++)
      stats.received.fetch_add(1, std::memory_order_relaxed);
  });
  std::jthread b([] {
    for (int i = 0; i < 1000000; i++)
      stats.sent.fetch_add(1, std::memory_order_relaxed);
  });
}
