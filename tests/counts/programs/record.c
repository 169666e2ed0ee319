// Two threads with one record on the heap: one writes a counter in it, the
// other reads a limit beside it.  With an argument the writer reads the limit,
// too, and the other thread does nothing.
#include <pthread.h>
#include <stdlib.h>

enum { WRITES = 30000, READS = 20000 };

struct shared {
  pthread_mutex_t *lock;
  volatile long counter;
  volatile long limit;
};

volatile long total __attribute__((aligned(64)));
static struct shared *one;
static pthread_barrier_t start;
static int alone;

static __attribute__((noinline)) void write_counter(struct shared *at) {
  for (int i = 0; i < WRITES; i++)
    at->counter++;
}

static __attribute__((noinline)) void read_limit(struct shared *at) {
  for (int i = 0; i < READS; i++)
    total = at->limit;
}

static void *writer(void *given) {
  pthread_barrier_wait(&start);
  write_counter(given);
  if (alone)
    read_limit(given);
  pthread_barrier_wait(&start);
  return given;
}

static void *reader(void *given) {
  pthread_barrier_wait(&start);
  if (!alone)
    read_limit(given);
  pthread_barrier_wait(&start);
  return given;
}

int main(int argc, char **argv) {
  pthread_t threads[2];
  (void)argv;
  alone = argc > 1;
  one = calloc(1, sizeof *one);
  pthread_barrier_init(&start, NULL, 2);
  pthread_create(&threads[0], NULL, writer, one);
  pthread_create(&threads[1], NULL, reader, one);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
