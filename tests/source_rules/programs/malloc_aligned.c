// malloc promises 16 bytes, the ring asks for 64: all its places are one finding.
// expect: aligned-type-from-malloc medium ring
#include <stdatomic.h>
#include <stdlib.h>

struct ring {
  _Alignas(64) atomic_long head;
  _Alignas(64) atomic_long tail;
};

struct ring *make(void) { return malloc(sizeof(struct ring)); }

struct ring *make_many(size_t n) {
  struct ring *rings = calloc(n, sizeof *rings);
  return rings;
}

long take(struct ring *r) { return atomic_fetch_add(&r->head, 1) - atomic_load(&r->tail); }
