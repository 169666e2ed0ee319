// A lock and a counter of one record that is made at run time: threads that are busy with it may have objects of their own.
// expect: hot-lock-shares-line medium pool.lock pool.served
#include <pthread.h>
#include <stdlib.h>

struct pool {
  pthread_mutex_t lock;
  long waiting;
  long served;
};

static void *take(void *argument) {
  struct pool *pool = argument;
  for (;;) {
    pthread_mutex_lock(&pool->lock);
    pool->waiting--;
    pthread_mutex_unlock(&pool->lock);
  }
}

static void *serve(void *argument) {
  struct pool *pool = argument;
  for (;;)
    __atomic_fetch_add(&pool->served, 1, __ATOMIC_RELAXED);
}

int main(void) {
  struct pool *pool = calloc(1, sizeof *pool);
  pthread_mutex_init(&pool->lock, 0);
  pthread_t threads[2];
  pthread_create(&threads[0], 0, take, pool);
  pthread_create(&threads[1], 0, serve, pool);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
}
