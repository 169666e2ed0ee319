// A queue: its lock is taken all the time, and a flag that other threads poll lies behind it.
// expect: hot-lock-shares-line high queue.lock queue.stop
#include <pthread.h>
#include <stdatomic.h>
static struct __attribute__((aligned(64))) queue {
  pthread_mutex_t lock;
  atomic_bool stop;
} queue = {PTHREAD_MUTEX_INITIALIZER};
static void *worker(void *arg) {
  for (int i = 0; i < 1000000; i++) {
    pthread_mutex_lock(&queue.lock);
    pthread_mutex_unlock(&queue.lock);
  }
  return 0;
}
static void *poller(void *arg) {
  long spins = 0;
  while (!atomic_load_explicit(&queue.stop, memory_order_relaxed))
    spins++;
  return (void *)spins;
}
int main(void) {
  pthread_t t[4], p;
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], 0, worker, 0);
  pthread_create(&p, 0, poller, 0);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], 0);
  atomic_store(&queue.stop, 1);
  pthread_join(p, 0);
  return 0;
}
