// Counters in a record that is made at run time, chosen by the number that each thread is handed.
// expect: packed-thread-slots high pool.done
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct pool {
  unsigned long size;
  _Atomic unsigned long done[8];
};

static struct pool *pool;

static void *work(void *argument) {
  for (uintptr_t number = (uintptr_t)argument;;)
    atomic_fetch_add(&pool->done[number], 1);
}

int main(void) {
  pthread_t threads[4];
  pool = calloc(1, sizeof *pool);
  for (uintptr_t i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
}
