// Locks one after the other in memory: of a line each, or taken when a thread ends.
// no-finding
#include <pthread.h>
#include <stdlib.h>

#define LOCKS 64

struct own {
  pthread_mutex_t lock;
} __attribute__((aligned(64)));

struct table {
  struct own *locks;
  pthread_mutex_t *ends;
  void **slots;
};

static void put(struct table *table, unsigned key, void *value) {
  pthread_mutex_lock(&table->locks[key % LOCKS].lock);
  table->slots[key] = value;
  pthread_mutex_unlock(&table->locks[key % LOCKS].lock);
}

static void end(struct table *table, unsigned number) {
  pthread_mutex_lock(&table->ends[number]);
  pthread_mutex_unlock(&table->ends[number]);
}

static void *work(void *argument) {
  struct table *table = argument;
  unsigned key = 0;
  while (++key < 100000000)
    put(table, key * 7919 & 4095, argument);
  end(table, key & 7);
  return 0;
}

int main(void) {
  struct table *table = aligned_alloc(64, 64);
  table->slots = calloc(4096, sizeof *table->slots);
  table->locks = aligned_alloc(64, LOCKS * sizeof *table->locks);
  table->ends = malloc(8 * sizeof *table->ends);
  for (int i = 0; i < LOCKS; i++)
    pthread_mutex_init(&table->locks[i].lock, 0);
  for (int i = 0; i < 8; i++)
    pthread_mutex_init(&table->ends[i], 0);
  pthread_t threads[8];
  for (int i = 0; i < 8; i++)
    pthread_create(&threads[i], 0, work, table);
  for (int i = 0; i < 8; i++)
    pthread_join(threads[i], 0);
}
