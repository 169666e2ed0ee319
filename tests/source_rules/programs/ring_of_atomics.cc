// ARGS: -std=c++17
// A ring of atomics starts a line of its own, away from its ends: whoever moves an end on stores one element.  Counters
// at a number that no end tells are slots.
// expect: array-aligned-not-element medium Counts.slots
#include <array>
#include <atomic>

struct Deque {
  bool push(int value) {
    long at = bottom.load(std::memory_order_relaxed);
    if (at - top.load(std::memory_order_acquire) >= 128) return false;
    ring[unsigned(at) % 128].store(value, std::memory_order_relaxed);
    bottom.store(at + 1, std::memory_order_release);
    return true;
  }
  alignas(64) std::atomic<long> top{0};
  alignas(64) std::atomic<long> bottom{0};
  alignas(64) std::array<std::atomic<int>, 128> ring{};
};
struct Counts {
  void add(unsigned who) { slots[who].fetch_add(1, std::memory_order_relaxed); }
  alignas(64) std::array<std::atomic<int>, 128> slots{};
};

Deque deque;
Counts counts;
bool run(unsigned who) {
  counts.add(who);
  return deque.push(int(who));
}
