// ARGS: -std=c++14
// A class that brings its own operator new keeps its alignment itself; placement is the caller's.
// no-finding
#include <atomic>
#include <cstdlib>
#include <new>

struct Ring {
  alignas(64) std::atomic<long> head{0};
  alignas(64) std::atomic<long> tail{0};
  static void *operator new(std::size_t size) { return aligned_alloc(64, size); }
  static void *operator new[](std::size_t size) { return aligned_alloc(64, size); }
  static void operator delete(void *p) { free(p); }
  static void operator delete[](void *p) { free(p); }
};
struct Slot {
  alignas(64) std::atomic<long> hits{0};
};
alignas(64) static char room[sizeof(Slot)];

Ring *make() { return new Ring; }
Ring *make_many() { return new Ring[4]; }
Slot *make_here() { return new (room) Slot; }
long take(Ring &r, Slot &s) { return r.head++ - r.tail.load() + s.hits++; }
