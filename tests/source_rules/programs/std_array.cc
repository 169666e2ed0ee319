// ARGS: -std=c++20
// An array in a class template: the alignment is still the array's.
// expect: array-aligned-not-element medium counters
#include <array>
#include <atomic>
#include <cstddef>

alignas(64) static std::array<std::atomic<long>, 8> counters;
struct alignas(64) Counter {
  std::atomic<long> value;
};
static std::array<Counter, 8> padded;

void count(std::size_t self) {
  counters[self].fetch_add(1, std::memory_order_relaxed);
  padded[self].value.fetch_add(1, std::memory_order_relaxed);
}
