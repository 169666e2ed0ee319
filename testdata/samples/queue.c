// Members of a record on the heap that two threads get as void pointers; PAD
// parts them.
#include <pthread.h>
#include <stdlib.h>
#ifdef PAD
#define OWN _Alignas(64)
#else
#define OWN
#endif
struct queue {
  int limit;
  OWN volatile long pushed;
  OWN volatile long popped;
};
static struct queue *make_queue(int limit) {
  struct queue *q = aligned_alloc(64, 192);
  q->limit = limit, q->pushed = q->popped = 0;
  return q;
}
static void *push(void *p) {
  struct queue *q = p;
  for (long i = 0; i < q->limit * 1000L; i++)
    q->pushed++;
  return 0;
}
static void *pop(void *p) {
  struct queue *q = p;
  for (long i = 0; i < q->limit * 1000L; i++)
    q->popped++;
  return 0;
}
int main(void) {
  struct queue *q = make_queue(240000);
  pthread_t a, b;
  pthread_create(&a, 0, push, q), pthread_create(&b, 0, pop, q);
  pthread_join(a, 0), pthread_join(b, 0);
  free(q);
}
