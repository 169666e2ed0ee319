// As malloc_chain.c, but the record asks for no more than malloc gives.
// no-finding
#include <stdlib.h>

struct context {
  size_t used;
};

static void *mem_block(struct context *c, size_t size) {
  c->used += size;
  return malloc(size + 16);
}

__attribute__((malloc)) void *mem_get(struct context *c, size_t size) { return mem_block(c, size); }

struct queue {
  _Alignas(16) long head;
  _Alignas(16) long tail;
};

struct queue *make(struct context *c) {
  struct queue *q = mem_get(c, sizeof(*q));
  q->head = q->tail = 0;
  return q;
}
