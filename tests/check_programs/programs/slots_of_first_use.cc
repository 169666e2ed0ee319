// ARGS: -std=c++17
// A thread takes its number when it first asks: the counter of numbers is hardly written, the slots are all the time.
// expect: packed-thread-slots high slots._M_elems[0]
#include <array>
#include <atomic>
#include <thread>
#include <vector>
static struct {
  alignas(64) std::atomic<int> next{0};
  std::atomic<long> looks{0};
  alignas(64) std::atomic<bool> stop{false};
  alignas(64) char end;
} state;
static std::array<std::atomic<long>, 16> slots;

static int number() {
  static thread_local int mine = state.next.fetch_add(1) % 16;
  return mine;
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back([] {
      while (!state.stop.load(std::memory_order_relaxed))
        slots[number()].fetch_add(1, std::memory_order_relaxed);
    });
  threads.emplace_back([] {
    while (!state.stop.load(std::memory_order_relaxed))
      state.looks.fetch_add(1, std::memory_order_relaxed);
  });
  state.stop = state.looks > 1000000 && slots[0] > 1;
  for (auto &t : threads)
    t.join();
}
