// Threads that count in elements of their own, of which code does not tell which
// member is used most.
#include <pthread.h>

enum { ADDS = 20000 };

volatile unsigned seed = 12345;
static pthread_barrier_t start __attribute__((aligned(64)));

struct slot {
  volatile long often, seldom;
} slots[3] __attribute__((aligned(64)));

static void *worker(void *slot) {
  unsigned x = seed;
  pthread_barrier_wait(&start);
  for (int i = 0; i < ADDS; i++) {
    x = x * 1103515245u + 12345u;
    if ((x >> 16) % 5 == 0)
      slots[(long)slot].seldom++;
    else if ((x >> 16) % 3 != 0)
      slots[(long)slot].often++;
  }
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
