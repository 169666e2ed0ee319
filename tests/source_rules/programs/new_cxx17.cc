// ARGS: -std=c++17
// Since C++17 `new` hands the alignment to the allocator.
// no-finding
#include <atomic>
#include <memory>

struct Ring {
  alignas(64) std::atomic<long> head{0};
  alignas(64) std::atomic<long> tail{0};
};

Ring *make() { return new Ring; }
std::unique_ptr<Ring> make_unique() { return std::make_unique<Ring>(); }
long take(Ring &r) { return r.head++ - r.tail.load(); }
