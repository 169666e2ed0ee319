// Two counters that the same thread writes: they belong together.
// no-finding
#include <pthread.h>
#include <stdatomic.h>
static struct {
  atomic_long packets;
  atomic_long bytes;
} rx;
static long idle;
static void *receive(void *arg) {
  for (long i = 0; i < 1000000; i++) {
    atomic_fetch_add_explicit(&rx.packets, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&rx.bytes, i, memory_order_relaxed);
  }
  return 0;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, receive, 0);
  pthread_join(a, 0);
  idle = rx.packets;
  return (int)idle;
}
