// A pool starts threads in a loop, all of which run what it was handed: several threads change elements of the table.
// expect: packed-thread-slots high hits
#include <pthread.h>
#include <stdlib.h>

typedef void (*work)(int id);
struct pool {
  work run;
  struct member { pthread_t thread; int id; struct pool *pool; } members[8];
};

static volatile int running = 1;
static long hits[8];

static void *begin(void *argument) {
  struct member *self = argument;
  self->pool->run(self->id);
  return 0;
}

static void count(int id) {
  while (running) __atomic_fetch_add(&hits[id], 1, __ATOMIC_RELAXED);
}

struct pool *start(int n, work run) {
  struct pool *pool = calloc(1, sizeof *pool);
  pool->run = run;
  for (int i = 0; i < n; i++) {
    pool->members[i].id = i;
    pool->members[i].pool = pool;
    pthread_create(&pool->members[i].thread, 0, begin, &pool->members[i]);
  }
  return pool;
}

int main(int argc, char **argv) {
  struct pool *pool = start(argc + 2, count);
  for (int i = 0; i < argc + 2; i++) pthread_join(pool->members[i].thread, 0);
  return argv[0] == 0;
}
