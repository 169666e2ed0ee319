// ARGS: -std=c++17
// A wrapper that is seen to hand on what malloc gives promises no more; of one that is not seen nothing is known.
// expect: aligned-type-from-malloc medium Stripe
// expect: aligned-type-from-malloc low Ring
#include <atomic>
#include <cstdlib>
#include <new>

struct alignas(64) Stripe {
  std::atomic<long> value{0};
};
struct alignas(64) Ring {
  std::atomic<long> head{0};
};

inline void *checkedMalloc(std::size_t size) {
  void *got = std::malloc(size);
  if (!got)
    throw std::bad_alloc();
  return got;
}
void *pool_alloc(std::size_t size);

Stripe *stripes(std::size_t count) { return reinterpret_cast<Stripe *>(checkedMalloc(count * sizeof(Stripe))); }
Ring *ring() { return reinterpret_cast<Ring *>(pool_alloc(sizeof(Ring))); }
