// As bare_locks_apart.c, but what takes the locks is handed elements.
// expect: thread-elements-meet medium table
#include <pthread.h>

static pthread_mutex_t table[64];

static void take(pthread_mutex_t *mutex) {
  while (pthread_mutex_trylock(mutex))
    ;
}
static void give(pthread_mutex_t *mutex) { pthread_mutex_unlock(mutex); }

void add(unsigned hash, long *sums) {
  for (int i = 0; i < 1000; i++) {
    take(&table[hash % 64]);
    ++sums[hash % 64];
    give(&table[hash % 64]);
  }
}
