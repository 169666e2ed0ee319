// The same record in static storage, of which there is one.
// expect: hot-lock-shares-line high the_pool.lock the_pool.served
#include <pthread.h>

struct pool {
  pthread_mutex_t lock;
  long waiting;
  long served;
};

static struct pool the_pool;

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
  struct pool *pool = &the_pool;
  pthread_mutex_init(&pool->lock, 0);
  pthread_t threads[2];
  pthread_create(&threads[0], 0, take, pool);
  pthread_create(&threads[1], 0, serve, pool);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
}
