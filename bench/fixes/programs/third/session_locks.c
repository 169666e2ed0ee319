// Locks of the parts of a table of sessions, in an array of mutexes that is a member.
// about: locks
#include <pthread.h>
#include <stdint.h>

#define PARTS 32

struct session {
  uint64_t key;
  struct session *next;
};

#ifdef FIXED
struct part_lock {
  pthread_mutex_t mutex;
} __attribute__((aligned(64)));
#define MUTEX(table, part) (&(table)->locks[part].mutex)
#else
#define MUTEX(table, part) (&(table)->locks[part])
#endif

struct session_table {
#ifdef FIXED
  struct part_lock locks[PARTS];
#else
  pthread_mutex_t locks[PARTS];
#endif
  struct session *heads[PARTS];
#ifdef EDIT
  int trace;
#endif
};

struct session *session_find(struct session_table *table, uint64_t key) {
  unsigned part = (key * 0x9e3779b97f4a7c15u) >> 59;
  pthread_mutex_lock(MUTEX(table, part));
  struct session *s = table->heads[part];
  while (s && s->key != key)
    s = s->next;
  pthread_mutex_unlock(MUTEX(table, part));
  return s;
}

void session_add(struct session_table *table, struct session *s) {
  unsigned part = (s->key * 0x9e3779b97f4a7c15u) >> 59;
  pthread_mutex_lock(MUTEX(table, part));
  s->next = table->heads[part];
  table->heads[part] = s;
  pthread_mutex_unlock(MUTEX(table, part));
}
