// Bins of an allocator's arenas: an array of bins in each, every bin under its own lock.
// about: Bin
#include <cstddef>
#include <mutex>

#ifdef FIXED
struct alignas(64) Bin {
#else
struct Bin {
#endif
  std::mutex lock;
  void *current = nullptr;
  size_t allocated = 0;
  size_t requests = 0;
#ifdef EDIT
  size_t flushes = 0;
#endif
};

struct Arena {
  unsigned index = 0;
  Bin bins[36];
};

void *slabAlloc(Arena &arena, unsigned size_class);

void *arenaMalloc(Arena &arena, unsigned size_class) {
  Bin &bin = arena.bins[size_class];
  std::lock_guard<std::mutex> guard(bin.lock);
  ++bin.requests;
  void *found = bin.current;
  if (!found)
    found = slabAlloc(arena, size_class);
  else
    bin.current = *static_cast<void **>(found);
  ++bin.allocated;
  return found;
}

void arenaFree(Arena &arena, unsigned size_class, void *pointer) {
  Bin &bin = arena.bins[size_class];
  std::lock_guard<std::mutex> guard(bin.lock);
  *static_cast<void **>(pointer) = bin.current;
  bin.current = pointer;
  --bin.allocated;
}
