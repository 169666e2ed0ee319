// The same where that thread sleeps before it says so again: workers that ask and then take the lock fetch the line once.
// no-finding
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static struct __attribute__((aligned(64))) pool {
  pthread_mutex_t lock;
  atomic_uint quota;
  long out __attribute__((aligned(64)));
} pool = {PTHREAD_MUTEX_INITIALIZER};

static void *work(void *argument) {
  for (;;) {
    unsigned most = atomic_load_explicit(&pool.quota, memory_order_relaxed);
    pthread_mutex_lock(&pool.lock);
    pool.out += pool.out < most;
    pthread_mutex_unlock(&pool.lock);
  }
}

static void *watch(void *argument) {
  unsigned x = 1;
  for (;;) {
    usleep(100000);
    x = x * 1103515245 + 12345;
    atomic_store_explicit(&pool.quota, 16 + (x & 63), memory_order_relaxed);
  }
}

int main(void) {
  pthread_t threads[3];
  pthread_create(&threads[0], 0, work, 0);
  pthread_create(&threads[1], 0, work, 0);
  pthread_create(&threads[2], 0, watch, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
}
