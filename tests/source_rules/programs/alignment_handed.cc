// ARGS: -std=c++17
// What is told the alignment, by its type and while it runs, may promise it; what is told the default does not.
// expect: aligned-type-from-malloc low Plain
#include <cstddef>
#include <new>

struct alignas(64) Cache {
  long hits;
};

struct alignas(64) Plain {
  long hits;
};

class Arena {
public:
  void *Alloc(std::size_t bytes, std::align_val_t alignment);
  void *Alloc(std::size_t bytes);
};

template <class T> T *make(Arena &arena, std::size_t size, std::align_val_t align) {
  return reinterpret_cast<T *>(arena.Alloc(size, align));
}

Cache *cache(Arena &arena) { return make<Cache>(arena, sizeof(Cache), std::align_val_t{alignof(Cache)}); }

Plain *plain(Arena &arena) { return static_cast<Plain *>(arena.Alloc(sizeof(Plain))); }
