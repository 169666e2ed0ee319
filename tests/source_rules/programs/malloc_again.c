// It calls itself where nothing is asked for: what it returns then is aligned as all else.
// no-finding
#include <stdlib.h>
#include <string.h>

void *memory(size_t size) {
  void *p = NULL;
  if (size && posix_memalign(&p, 64, size))
    p = NULL;
  if (!p && !size) {
    size = 1;
    p = memory(1);
  }
  return p;
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
