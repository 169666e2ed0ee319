// Locks of the project's own in one piece of memory, of a type that is no multiple of a line: what their functions do
// inside is in another unit.
// expect: thread-elements-meet medium own_rwlock
#include <stdlib.h>

typedef struct own_rwlock {
  long words[9];
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
  t->locks = malloc(count * sizeof(own_rwlock_t));
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
