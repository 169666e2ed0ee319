#include <pthread.h>
#define THREADS 8
struct slot {
  volatile long hits;
  volatile long misses;
};
struct stats {
  char name[24];
  struct slot slots[THREADS];
};
static struct stats stats;
static void *worker(void *argument) {
  long me = (long)argument;
  for (long i = 0; i < 1000000000; i++) {
    stats.slots[me].hits++;
    if (i & 1)
      stats.slots[me].misses++;
  }
  return 0;
}
int main(int count, char **names) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], 0, worker, (void *)i);
  for (long i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  return stats.name[count] + (names == 0);
}
