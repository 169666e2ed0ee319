// A template that starts a thread and returns it has the thread's type in its name: what it is handed is called by that
// thread, again and again, and is none itself.
// ARGS: -std=c++17
// expect: independent-writers medium blocks.live blocks.freed
#include <atomic>
#include <thread>
#include <vector>
struct Blocks {
  std::atomic<unsigned long> live, freed;
};
static Blocks blocks;
template <typename Work> static std::thread repeat(int times, Work work) {
  return std::thread([times, work] {
    for (int i = 0; i < times; i++) work(i);
  });
}
int main() {
  std::vector<std::thread> threads;
  threads.push_back(repeat(1000000, [](int i) { blocks.live.fetch_add(i & 7, std::memory_order_relaxed); }));
  threads.push_back(repeat(1000000, [](int i) { blocks.freed.fetch_add(i & 7, std::memory_order_relaxed); }));
  for (auto &thread : threads) thread.join();
}
