// A table of connections: looked up without a lock by all threads, with the lock of insertion beside what they read.
// about: lock
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct connection {
  struct connection *next;
  uint64_t id;
  int fd;
};

struct connection_table {
  uint64_t mask;
  struct connection **buckets;
  uint64_t seed;
#ifdef FIXED
  _Alignas(64) pthread_mutex_t lock;
#else
  pthread_mutex_t lock;
#endif
  uint64_t count;
#ifdef EDIT
  uint64_t peak;
#endif
};

struct connection_table *connections_new(uint64_t size) {
  struct connection_table *table = aligned_alloc(64, (sizeof *table + 63) & ~63ul);
  table->mask = size - 1;
  table->seed = 0x9e3779b97f4a7c15;
  table->count = 0;
  table->buckets = calloc(size, sizeof *table->buckets);
  pthread_mutex_init(&table->lock, NULL);
  return table;
}

struct connection *connections_find(struct connection_table *table, uint64_t id) {
  struct connection *c =
      __atomic_load_n(&table->buckets[(id * table->seed >> 32) & table->mask], __ATOMIC_ACQUIRE);
  while (c && c->id != id)
    c = __atomic_load_n(&c->next, __ATOMIC_ACQUIRE);
  return c;
}

void connections_add(struct connection_table *table, struct connection *c) {
  struct connection **bucket = &table->buckets[(c->id * table->seed >> 32) & table->mask];
  pthread_mutex_lock(&table->lock);
  c->next = *bucket;
  __atomic_store_n(bucket, c, __ATOMIC_RELEASE);
  table->count++;
  pthread_mutex_unlock(&table->lock);
}
