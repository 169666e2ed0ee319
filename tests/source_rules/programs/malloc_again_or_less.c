// As malloc_again.c, but what is small is aligned to less.
// expect: aligned-type-from-malloc low queue
#include <stdlib.h>
#include <string.h>

void *memory(size_t size) {
  void *p = NULL;
  if (!size)
    return memory(1);
  if (size < 4096)
    return malloc(size);
  return posix_memalign(&p, 64, size) ? NULL : p;
}

struct queue {
  _Alignas(64) long head;
  _Alignas(64) long tail;
};

struct queue *make(void) {
  struct queue *q = memory(sizeof *q);
  if (q)
    memset(q, 0, sizeof *q);
  return q;
}
