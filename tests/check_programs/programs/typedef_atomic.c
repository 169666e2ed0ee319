// Atomics and threads behind the project's own names.
// expect: independent-writers high pool.taken pool.returned
#include <pthread.h>
#include <stdatomic.h>
typedef _Atomic(unsigned long) counter_t;
typedef pthread_t worker_id;
#define COUNT(x) atomic_fetch_add_explicit(&(x), 1, memory_order_relaxed)
static struct {
  counter_t taken;
  counter_t returned;
} pool __attribute__((aligned(64)));
// expect: aligned-tail-free low pool
static int start(worker_id *id, void *(*entry)(void *)) { return pthread_create(id, 0, entry, 0); }
static void *take(void *arg) {
  for (long i = 0; i < 1000000; i++)
    COUNT(pool.taken);
  return 0;
}
static void *give(void *arg) {
  for (long i = 0; i < 1000000; i++)
    COUNT(pool.returned);
  return 0;
}
int main(void) {
  worker_id a, b;
  start(&a, take);
  start(&b, give);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
