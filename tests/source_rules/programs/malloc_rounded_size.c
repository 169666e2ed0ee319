// The size is rounded up, and not the start; an assumption about malloc is wrong.
// expect: aligned-type-from-malloc low counter
// expect: aligned-type-from-malloc medium total
// expect: aligned-type-from-malloc medium sum
#include <stdint.h>
#include <stdlib.h>

struct counter {
  _Alignas(64) long hits;
};
struct total {
  _Alignas(64) long all;
};
struct sum {
  _Alignas(64) long of;
};

static void *whole_lines(size_t size) { return malloc((size + 63) & ~(size_t)63); }

static void *to_vectors(size_t size) {
  char *all = malloc(size + 32);
  return (void *)(((uintptr_t)all + 31) & ~(uintptr_t)31);
}

struct counter *a(void) { return whole_lines(sizeof(struct counter)); }
struct total *b(void) { return to_vectors(sizeof(struct total)); }
struct sum *c(void) { return __builtin_assume_aligned(malloc(sizeof(struct sum)), 64); }
