// ARGS: -std=c++17
// Slots in a vector: the index chooses the element, on the heap as elsewhere.
// expect: packed-thread-slots medium Slot
#include <atomic>
#include <thread>
#include <vector>
struct Slot {
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
