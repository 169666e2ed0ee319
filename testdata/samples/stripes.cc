// Spin locks of a byte in a row: each thread takes any of them, so that two
// threads seldom want the same one; PAD gives each lock a line.
#include <array>
#include <atomic>
#include <cstdint>

#include <thread>
class Spin {
  std::atomic_flag taken = ATOMIC_FLAG_INIT;

public:
  void lock() {
    while (taken.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() { taken.clear(std::memory_order_release); }
};
#ifdef PAD
struct alignas(64) Stripe : Spin {};
#else
struct Stripe : Spin {};
#endif
alignas(64) static std::array<Stripe, 64> stripes;
static void worker(uint32_t seed) {
  for (int n = 0; n < 9000000; ++n) {
    seed = seed * 1664525u + 1013904223u;
    Stripe &mine = stripes[seed >> 26];
    mine.lock();
    mine.unlock();
  }
}
int main() {
  std::thread other(worker, 7u);
  worker(99u);
  other.join();
}
