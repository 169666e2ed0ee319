// A ring on the heap, one producer, one consumer: the indexes share a line wherever malloc puts it.
// Who writes one of them reads the other as well: half of the traffic would remain.
// expect: independent-writers medium ring.head ring.tail
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#define SIZE 1024
struct ring {
  atomic_uint head;
  atomic_uint tail;
  int *slot;
};
static void *producer(void *arg) {
  struct ring *r = arg;
  for (int i = 0; i < 1000000; i++) {
    unsigned head = atomic_load_explicit(&r->head, memory_order_relaxed);
    while (head - atomic_load_explicit(&r->tail, memory_order_acquire) == SIZE)
      ;
    r->slot[head % SIZE] = i;
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
  }
  return 0;
}
static void *consumer(void *arg) {
  struct ring *r = arg;
  long sum = 0;
  for (int i = 0; i < 1000000; i++) {
    unsigned tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    while (atomic_load_explicit(&r->head, memory_order_acquire) == tail)
      ;
    sum += r->slot[tail % SIZE];
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
  }
  return (void *)sum;
}
int main(void) {
  struct ring *r = calloc(1, sizeof *r);
  r->slot = calloc(SIZE, sizeof *r->slot);
  pthread_t a, b;
  pthread_create(&a, 0, producer, r);
  pthread_create(&b, 0, consumer, r);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
