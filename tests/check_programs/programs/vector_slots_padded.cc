// ARGS: -std=c++17
// The same, rounded up to the line.
// no-finding
#include <atomic>
#include <thread>
#include <vector>
struct alignas(64) Slot {
  std::atomic<long> n{0};
  std::atomic<long> bytes{0};
};
static std::vector<Slot> slots(8);
static void work(std::size_t id) {
  for (int i = 0; i < 1000000; i++) {
    slots[id].n.fetch_add(1, std::memory_order_relaxed);
    slots[id].bytes.fetch_add(i, std::memory_order_relaxed);
  }
}
int main() {
  std::vector<std::thread> t;
  for (std::size_t i = 0; i < 8; i++)
    t.emplace_back(work, i);
  for (auto &x : t)
    x.join();
}
