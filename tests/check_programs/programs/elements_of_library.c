// ARGS: -fPIC -std=gnu11
// A library with a lock an element: what an inline function changes that this unit does not call, others call.
// expect: thread-elements-meet medium shard
#include <pthread.h>
#include <stdlib.h>
struct shard {
  pthread_mutex_t lock;
  unsigned long entries;
  char spare[64];
  unsigned long created;
};
struct set {
  struct shard *shards;
  int count;
};
struct set *set_make(int count) {
  struct set *set = malloc(sizeof *set);
  set->shards = calloc(count, sizeof *set->shards);
  set->count = count;
  for (int i = 0; i < count; i++) {
    pthread_mutex_init(&set->shards[i].lock, 0);
  }
  return set;
}
void set_add(struct set *set, unsigned long key) {
  struct shard *one = &set->shards[key % set->count];
  pthread_mutex_lock(&one->lock);
  one->entries++;
  pthread_mutex_unlock(&one->lock);
}
static inline void set_rename(struct set *set, unsigned long key, unsigned long name) {
  for (int i = 0; i < 2; i++)
    set->shards[key % set->count].created = name + i;
}
