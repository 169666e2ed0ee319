// ARGS: -std=c++20
// Statics of functions are variables of the unit like any other.
// expect: independent-writers high hit::count miss::count
#include <atomic>
#include <thread>
static void hit() {
  static std::atomic<long> count;
  count.fetch_add(1, std::memory_order_relaxed);
}
static void miss() {
  static std::atomic<long> count;
  count.fetch_add(1, std::memory_order_relaxed);
}
int main() {
  std::jthread a([] {
    for (int i = 0; i < 1000000; i++)
      hit();
  });
  std::jthread b([] {
    for (int i = 0; i < 1000000; i++)
      miss();
  });
}
