// As named_locks.c, of whole lines and aligned to them.
// ARGS: -std=gnu11
// no-finding
#include <stdlib.h>

typedef struct own_rwlock {
  _Alignas(64) long words[16];
} own_rwlock_t;
void own_rwlock_init(own_rwlock_t *l);
void own_rwlock_rdlock(own_rwlock_t *l);
void own_rwlock_unlock(own_rwlock_t *l);

struct tree {
  own_rwlock_t *locks;
  int count;
};

void make(struct tree *t, int count) {
  t->count = count;
  t->locks = aligned_alloc(64, count * sizeof(own_rwlock_t));
  for (int i = 0; i < count; i++)
    own_rwlock_init(&t->locks[i]);
}

long look(struct tree *t, unsigned hash, const long *value) {
  own_rwlock_t *lock = &t->locks[hash % t->count];
  long found = 0;
  for (int i = 0; i < 2; i++) {
    own_rwlock_rdlock(lock);
    found += value[i];
    own_rwlock_unlock(lock);
  }
  return found;
}
