// The allocation keeps the alignment, or there is none to keep.
// no-finding
#include <stdatomic.h>
#include <stdlib.h>

struct ring {
  _Alignas(64) atomic_long head;
  _Alignas(64) atomic_long tail;
};
struct plain {
  atomic_long head;
};

struct ring *make(void) { return aligned_alloc(_Alignof(struct ring), sizeof(struct ring)); }

struct ring *make_posix(void) {
  void *p = NULL;
  if (posix_memalign(&p, 64, sizeof(struct ring)) != 0)
    return NULL;
  return p;
}

struct plain *make_plain(void) { return malloc(sizeof(struct plain)); }

long take(struct ring *r, struct plain *p) {
  return atomic_fetch_add(&r->head, 1) - atomic_load(&r->tail) + atomic_load(&p->head);
}
