// Two counters of which each run of a function changes the one or the other.
// expect: independent-writers medium hits misses
#include <pthread.h>

static unsigned long hits;
static unsigned long misses;

extern int look(void);

static void *serve(void *argument) {
  for (;;) {
    if (look())
      __atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
    else
      __atomic_fetch_add(&misses, 1, __ATOMIC_RELAXED);
  }
  return argument;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, serve, 0);
  return pthread_join(threads[0], 0);
}
