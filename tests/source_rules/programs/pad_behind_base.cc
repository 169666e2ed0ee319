// ARGS: -std=c++17
// The arithmetic takes the sizeof of a base; the padding begins in the bytes that the base leaves at its end, and the
// rounding of the whole record fills what that leaves: elements are 64 bytes.  With the base's bytes all in use, a
// member that was added behind it makes them longer.
// expect: pad-misses-line low Longer.pad Longer.late
#include <atomic>

constexpr int kCacheLine = 64;

struct Counts {
  Counts() {}
  std::atomic<long> hits;
  std::atomic<int> misses;
};
struct Slot : Counts {
  char pad[kCacheLine - sizeof(Counts) % kCacheLine];
};
static_assert(sizeof(Slot) == 64);

struct Full {
  Full() {}
  std::atomic<long> hits;
  std::atomic<long> misses;
};
struct Longer : Full {
  long late;
  char pad[kCacheLine - sizeof(Full) % kCacheLine];
};
static_assert(sizeof(Longer) == 72);

static Slot slots[8];
static Longer longer[8];

void count(int self) {
  slots[self].hits++;
  slots[self].misses++;
  longer[self].hits++;
}
