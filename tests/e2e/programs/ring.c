// A ring with one producer and one consumer: each writes its own index, reads the other's.
// expect: independent-writers medium ring.head ring.tail
#include <pthread.h>
#include <stdatomic.h>
#define SIZE 1024
_Alignas(64) struct {
  atomic_uint head, tail;
} ring;
static _Alignas(64) int slot[SIZE];
static void *producer(void *n) {
  for (long i = 0; i < (long)n; i++) {
    unsigned head = atomic_load_explicit(&ring.head, memory_order_relaxed);
    while (head - atomic_load_explicit(&ring.tail, memory_order_acquire) == SIZE)
      ;
    slot[head % SIZE] = (int)i;
    atomic_store_explicit(&ring.head, head + 1, memory_order_release);
  }
  return 0;
}
static void *consumer(void *n) {
  long sum = 0;
  for (long i = 0; i < (long)n; i++) {
    unsigned tail = atomic_load_explicit(&ring.tail, memory_order_relaxed);
    while (atomic_load_explicit(&ring.head, memory_order_acquire) == tail)
      ;
    sum += slot[tail % SIZE];
    atomic_store_explicit(&ring.tail, tail + 1, memory_order_release);
  }
  return (void *)sum;
}
int main(int argc, char **argv) {
  pthread_t a, b;
  pthread_create(&a, 0, producer, (void *)(long)(argc * 100000));
  pthread_create(&b, 0, consumer, (void *)(long)(argc * 100000));
  pthread_join(a, 0);
  pthread_join(b, 0);
  return ring.head != ring.tail;
}
