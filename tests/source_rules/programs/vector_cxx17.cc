// ARGS: -std=c++17
// Since C++17 the allocator of a container knows the alignment of what it holds.
// no-finding
#include <atomic>
#include <vector>

struct alignas(64) Slot {
  std::atomic<long> used{0};
};

class Pool {
public:
  explicit Pool(unsigned slots) : slots_(slots) {}
  long take(unsigned slot) { return slots_[slot % slots_.size()].used++; }

private:
  std::vector<Slot> slots_;
};

long take(Pool &pool, unsigned slot) { return pool.take(slot); }
Pool *make(unsigned slots) { return new Pool(slots); }
