// Two counters of which each run of a function changes both: they are fetched once.
// no-finding
#include <pthread.h>

static unsigned long lookups;
static unsigned long bytes;

extern int look(void);

static void *serve(void *argument) {
  for (;;) {
    __atomic_fetch_add(&lookups, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&bytes, look(), __ATOMIC_RELAXED);
  }
  return argument;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, serve, 0);
  return pthread_join(threads[0], 0);
}
