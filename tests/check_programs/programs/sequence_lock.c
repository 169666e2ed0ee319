// A sequence counter and the data that it guards change together, by one thread: one line is best.
// no-finding
#include <pthread.h>
#include <stdatomic.h>
static struct __attribute__((aligned(64))) {
  atomic_uint sequence;
  atomic_long seconds;
  atomic_long nanoseconds;
} page;
static void *ticker(void *arg) {
  for (long i = 0; i < 1000000; i++) {
    atomic_fetch_add(&page.sequence, 1);
    atomic_store_explicit(&page.seconds, i / 1000, memory_order_relaxed);
    atomic_store_explicit(&page.nanoseconds, i, memory_order_relaxed);
    atomic_fetch_add(&page.sequence, 1);
  }
  return 0;
}
static void *reader(void *arg) {
  long sum = 0;
  for (long i = 0; i < 1000000; i++) {
    unsigned before;
    do {
      before = atomic_load(&page.sequence);
      sum += atomic_load_explicit(&page.seconds, memory_order_relaxed);
      sum += atomic_load_explicit(&page.nanoseconds, memory_order_relaxed);
    } while (before & 1 || before != atomic_load(&page.sequence));
  }
  return (void *)sum;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, ticker, 0);
  pthread_create(&b, 0, reader, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
