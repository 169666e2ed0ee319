// A price under a sequence number, which is read all the time and hardly ever
// written, beside a count of what was dropped; PAD parts the count.
#include <pthread.h>
#include <stdatomic.h>
static struct {
  _Alignas(64) atomic_uint sequence;
  long price, size;
#ifdef PAD
  _Alignas(64)
#endif
      volatile long dropped;
} feed;
static atomic_int stop;
static void *drop(void *arg) {
  while (!atomic_load_explicit(&stop, memory_order_relaxed))
    feed.dropped++;
  return arg;
}
static long look(void) {
  for (;;) {
    unsigned before =
        atomic_load_explicit(&feed.sequence, memory_order_acquire);
    long sum = feed.price + feed.size;
    atomic_thread_fence(memory_order_acquire);
    if (!(before & 1) &&
        before == atomic_load_explicit(&feed.sequence, memory_order_relaxed))
      return sum;
  }
}
int main(void) {
  pthread_t dropper;
  feed.price = 3, feed.size = 4;
  pthread_create(&dropper, NULL, drop, NULL);
  long sum = 0;
  for (int i = 0; i < 200000000; i++)
    sum += look();
  atomic_store(&stop, 1);
  pthread_join(dropper, NULL);
  return sum != 1400000000L;
}
