// ARGS: -std=c++20
// As threads_pushed.cc, but the loop pushes numbers while the threads run: what it counts is hot.
// expect: independent-writers medium state.started state.done
// expect: packed-thread-slots high slots
#include <atomic>
#include <thread>
#include <vector>
static struct {
  alignas(64) long started;
  std::atomic<long> done{0};
  alignas(64) std::atomic<bool> stop{false};
} state;
static long slots[16];

static void work(int i) {
  while (!state.stop.load(std::memory_order_relaxed)) {
    slots[i]++;
    state.done.fetch_add(1, std::memory_order_relaxed);
  }
}

int main(int argc, char **) {
  std::vector<std::jthread> workers;
  std::vector<int> numbers;
  for (int i = 0; i < argc + 4; i++)
    workers.emplace_back(work, i);
  for (int i = 0; i < 10000000; i++) {
    state.started++;
    numbers.push_back(i);
  }
  state.stop = state.done > 1000;
}
