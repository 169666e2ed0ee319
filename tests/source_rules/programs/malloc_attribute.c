// A function of another unit that is declared to allocate, by an attribute alone: whether it aligns is not seen.
// expect: aligned-type-from-malloc low queue
#include <stddef.h>

struct context;
__attribute__((malloc)) void *mem_get(struct context *c, size_t size);

struct queue {
  _Alignas(64) long head;
  _Alignas(64) long tail;
};

struct queue *make(struct context *c) {
  struct queue *q = mem_get(c, sizeof(*q));
  q->head = q->tail = 0;
  return q;
}

// What another number says may be an alignment.
__attribute__((malloc)) void *mem_take(struct context *c, size_t size, int flags);

struct ring {
  _Alignas(64) long head;
};

struct ring *make_ring(struct context *c) {
  struct ring *r = mem_take(c, sizeof(*r), 6);
  r->head = 0;
  return r;
}
