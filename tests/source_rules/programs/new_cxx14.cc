// ARGS: -std=c++14
// Before C++17 `new` knows only the default alignment.
// expect: aligned-type-from-malloc medium Ring
#include <atomic>

struct Ring {
  alignas(64) std::atomic<long> head{0};
  alignas(64) std::atomic<long> tail{0};
};

Ring *make() { return new Ring; }
long take(Ring &r) { return r.head++ - r.tail.load(); }
