/* Owns the lock and the list head that must not share a line. */
#include "cache.h"

#include <pthread.h>

pthread_mutex_t LOCK_open = PTHREAD_MUTEX_INITIALIZER;
struct table *unused_tables;

void cache_put(struct table *free_table) {
  pthread_mutex_lock(&LOCK_open);
  free_table->next = unused_tables;
  unused_tables = free_table;
  pthread_mutex_unlock(&LOCK_open);
}

struct table *cache_take(void) {
  pthread_mutex_lock(&LOCK_open);
  struct table *found = unused_tables;
  if (found) unused_tables = found->next;
  pthread_mutex_unlock(&LOCK_open);
  return found;
}

/* Without the lock: a glance at the head tells whether it is worth taking. */
long cache_idle(void) { return __atomic_load_n(&unused_tables, __ATOMIC_RELAXED) != 0; }
