// A lock of the program that is longer than a line has other neighbours at its end than at its beginning: both are said.
// expect: hot-lock-shares-line medium index.lock index.users
// expect: hot-lock-shares-line medium index.lock index.names
#include <stdatomic.h>

typedef struct {
  atomic_ulong coming, going;
  char apart[160];
  atomic_bool writing;
} index_rwlock_t;

void index_rwlock_rdlock(index_rwlock_t *);
void index_rwlock_wrlock(index_rwlock_t *);
void index_rwlock_unlock(index_rwlock_t *);

struct index {
  atomic_ulong users;
  index_rwlock_t lock;
  const char *const *names;
  long entries[64];
};

void index_attach(struct index *i) { atomic_fetch_add(&i->users, 1); }

int index_detach(struct index *i) { return atomic_fetch_sub(&i->users, 1) == 1; }

const char *index_name(struct index *i, unsigned key) { return i->names[key]; }

long index_find(struct index *i, unsigned key) {
  index_rwlock_rdlock(&i->lock);
  long found = i->entries[key];
  index_rwlock_unlock(&i->lock);
  return found;
}

void index_change(struct index *i, unsigned key, long value) {
  index_rwlock_wrlock(&i->lock);
  i->entries[key] = value;
  index_rwlock_unlock(&i->lock);
}
