// ARGS: -std=c++20
// Threads that a loop pushes into a container: several of one entry, and what the loop counts is written once for each.
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

int main(int argc, char **) {
  std::vector<std::jthread> workers;
  for (int i = 0; i < argc + 4; i++) {
    state.started++;
    workers.push_back(std::jthread([i] {
      while (!state.stop.load(std::memory_order_relaxed)) {
        slots[i]++;
        state.done.fetch_add(1, std::memory_order_relaxed);
      }
    }));
  }
  state.stop = state.done > 1000;
}
