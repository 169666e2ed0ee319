// As named_lock.c, each on a line of its own.
// no-finding
#include <pthread.h>
#include <stdatomic.h>

typedef struct own_lock {
  int owner;
  int waiters;
} own_lock_t;
void own_lock_lock(own_lock_t *l);
void own_lock_unlock(own_lock_t *l);

static struct table {
  _Alignas(64) own_lock_t lock;
  _Alignas(64) atomic_long references;
  _Alignas(64) long entries;
} table;

static void *count(void *unused) {
  for (int i = 0; i < 1000000; i++)
    atomic_fetch_add(&table.references, 1);
  return unused;
}

static void *serve(void *unused) {
  for (int i = 0; i < 1000000; i++) {
    own_lock_lock(&table.lock);
    table.entries++;
    own_lock_unlock(&table.lock);
  }
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, i % 2 ? serve : count, 0);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
  return 0;
}
