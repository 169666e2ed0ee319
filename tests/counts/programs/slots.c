// Two threads, each of which counts in a slot of its own; the slots are
// neighbours.
#include <pthread.h>

enum { ADDS = 20000 };

volatile long hits[4] __attribute__((aligned(64)));
static pthread_barrier_t start __attribute__((aligned(64)));

static void *worker(void *slot) {
  pthread_barrier_wait(&start);
  for (int i = 0; i < ADDS; i++)
    hits[(long)slot]++;
  pthread_barrier_wait(&start);
  return slot;
}

int main(void) {
  pthread_t threads[2];
  pthread_barrier_init(&start, NULL, 2);
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, worker, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
