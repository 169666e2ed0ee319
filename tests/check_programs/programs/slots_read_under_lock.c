// Each thread counts in an element of its own; who adds them up holds a lock, which guards something else.
// expect: packed-thread-slots high hits
#include <pthread.h>
#include <stdatomic.h>

static atomic_long hits[8];
static struct { _Alignas(64) pthread_mutex_t lock; char rest[24]; } reports = {PTHREAD_MUTEX_INITIALIZER, {0}};

static long sum(void) {
  long all = 0;
  for (int round = 0; round < 10; round++)
    for (int i = 0; i < 8; i++)
      all += atomic_load_explicit(&hits[i], memory_order_relaxed);
  return all;
}
static void *report(void *p) {
  long all = 0;
  for (int i = 0; i < 100000; i++) {
    pthread_mutex_lock(&reports.lock);
    all += sum();
    pthread_mutex_unlock(&reports.lock);
  }
  return all ? p : 0;
}
static void *work(void *p) {
  long self = (long)p;
  for (long i = 0; i < 100000000; i++)
    atomic_fetch_add_explicit(&hits[self], 1, memory_order_relaxed);
  return 0;
}

int main(void) {
  pthread_t t[8], r;
  pthread_create(&r, 0, report, 0);
  for (long i = 0; i < 8; i++)
    pthread_create(&t[i], 0, work, (void *)i);
  for (int i = 0; i < 8; i++)
    pthread_join(t[i], 0);
  pthread_join(r, 0);
}
