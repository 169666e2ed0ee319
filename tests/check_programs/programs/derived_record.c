// C derives a record by a first member, pointers to which are cast to the whole: what is done to the one, behind a
// pointer to it alone, is done to the other. A count of references ends where the lock of the whole begins.
// expect: hot-lock-shares-line medium table.lock table.common.references
#include <pthread.h>
#include <stdatomic.h>

struct store {
  char name[48];
  atomic_ulong references;
};

struct table {
  struct store common;
  pthread_mutex_t lock;
  long *entries;
};

void store_attach(struct store *s) { atomic_fetch_add(&s->references, 1); }

int store_detach(struct store *s) { return atomic_fetch_sub(&s->references, 1) == 1; }

long table_find(struct store *s, unsigned key) {
  struct table *t = (struct table *)s;
  pthread_mutex_lock(&t->lock);
  long found = t->entries[key];
  pthread_mutex_unlock(&t->lock);
  return found;
}

void table_change(struct store *s, unsigned key, long value) {
  struct table *t = (struct table *)s;
  pthread_mutex_lock(&t->lock);
  t->entries[key] = value;
  pthread_mutex_unlock(&t->lock);
}
