// Two threads that hand a word to each other and spin: what they share they
// mean to.
#include <atomic>
#include <thread>
alignas(64) static std::atomic<int> turn{0};
struct alignas(64) Work {
  long total = 0;
};
static Work work[2];
int main() {
  auto play = [](int me) {
    for (int i = 0; i < 1200000; i++) {
      while (turn.load(std::memory_order_acquire) != me) {
      }
      work[me].total += i;
      turn.store(1 - me, std::memory_order_release);
    }
  };
  std::thread a(play, 0), b(play, 1);
  a.join(), b.join();
}
