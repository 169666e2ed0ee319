// Locks one after the other in memory, of which each thread takes the one that its key leads to.
// expect: thread-elements-meet medium pthread_mutex_t
#include <pthread.h>
#include <stdlib.h>

#define LOCKS 64

struct table {
  pthread_mutex_t *locks;
  void **slots;
};

static void put(struct table *table, unsigned key, void *value) {
  pthread_mutex_lock(&table->locks[key % LOCKS]);
  table->slots[key] = value;
  pthread_mutex_unlock(&table->locks[key % LOCKS]);
}

static void *work(void *argument) {
  struct table *table = argument;
  for (unsigned key = 0;; key++)
    put(table, key * 7919 & 4095, argument);
}

int main(void) {
  struct table *table = malloc(sizeof *table);
  table->slots = calloc(4096, sizeof *table->slots);
  table->locks = malloc(LOCKS * sizeof *table->locks);
  for (int i = 0; i < LOCKS; i++)
    pthread_mutex_init(&table->locks[i], 0);
  pthread_t threads[8];
  for (int i = 0; i < 8; i++)
    pthread_create(&threads[i], 0, work, table);
  for (int i = 0; i < 8; i++)
    pthread_join(threads[i], 0);
}
