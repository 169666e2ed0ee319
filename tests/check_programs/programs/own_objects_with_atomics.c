// Each thread is handed an element of its own, which fills its line: what it counts there in an atomic, for others to
// look at later, disturbs no other thread that reads what it was given.  Of one object that all are handed it does.
// expect: written-beside-read-mostly low pool.done pool.width
#include <pthread.h>
#include <stdlib.h>

struct worker {
  pthread_t thread;
  unsigned rows, width;
  unsigned long sum;
} __attribute__((aligned(64)));
struct pool {
  unsigned rows, width;
  unsigned long done;
} __attribute__((aligned(64)));

static void own_row(struct worker *worker, unsigned row) {
  unsigned sum = 0;
  for (unsigned i = 0; i < worker->width; i += 4) sum += i * row;
  __atomic_fetch_add(&worker->sum, sum, __ATOMIC_RELAXED);
}
static void *own_main(void *data) {
  struct worker *worker = data;
  for (unsigned row = 0; row < worker->rows; row++) own_row(worker, row);
  return 0;
}
static void *pool_main(void *data) {
  struct pool *pool = data;
  for (unsigned row = 0; row < pool->rows; row++) __atomic_fetch_add(&pool->done, row * pool->width, __ATOMIC_RELAXED);
  return 0;
}

int main(void) {
  struct worker *workers = aligned_alloc(64, 4 * sizeof *workers), *worker = workers;
  struct pool *pool = aligned_alloc(64, sizeof *pool);
  pthread_t threads[4];
  unsigned long sum = 0;
  *pool = (struct pool){1000000, 64, 0};
  for (; worker < workers + 4; worker++) {
    *worker = (struct worker){.rows = 1000000, .width = 64};
    pthread_create(&worker->thread, 0, own_main, worker);
  }
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, pool_main, pool);
  for (int i = 0; i < 4; i++) {
    pthread_join(workers[i].thread, 0);
    pthread_join(threads[i], 0);
    sum += workers[i].sum;
  }
  return sum > pool->done;
}
