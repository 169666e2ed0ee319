// Shards of a table, each on a line by its type, from an allocator that does not know of it.
// about: shard
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct entry {
  struct entry *next;
  uint64_t key;
};

struct shard {
  pthread_spinlock_t lock;
  uint32_t mask;
  struct entry **buckets;
  uint64_t entries;
#ifdef EDIT
  uint64_t collisions;
#endif
} __attribute__((aligned(64)));

struct table {
  unsigned count;
  struct shard *shards;
};

struct table *table_new(unsigned count) {
  struct table *table = malloc(sizeof *table);
  table->count = count;
#ifdef FIXED
  table->shards = aligned_alloc(64, count * sizeof(struct shard));
#else
  table->shards = calloc(count, sizeof(struct shard));
#endif
  for (unsigned i = 0; i < count; i++) {
    table->shards[i].mask = 1023;
    table->shards[i].buckets = calloc(1024, sizeof(struct entry *));
    pthread_spin_init(&table->shards[i].lock, 0);
  }
  return table;
}

void table_add(struct table *table, struct entry *entry) {
  struct shard *shard = &table->shards[entry->key % table->count];
  struct entry **bucket = &shard->buckets[(entry->key >> 8) & shard->mask];

  pthread_spin_lock(&shard->lock);
  entry->next = *bucket;
  *bucket = entry;
  shard->entries++;
  pthread_spin_unlock(&shard->lock);
}
