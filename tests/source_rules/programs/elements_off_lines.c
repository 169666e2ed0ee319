// Elements of whole lines, each with a lock: the compiler aligns their array to 32 bytes, and a linker may put it so.
// expect: thread-elements-meet medium shard
#include <pthread.h>

struct shard {
  pthread_mutex_t lock;
  void *first;
  unsigned long spare;
  unsigned long entries;
};

static struct shard shards[16];

void add(unsigned long key, void **entry) {
  struct shard *shard = &shards[key % 16];
  for (int i = 0; i < 4; i++) {
    pthread_mutex_lock(&shard->lock);
    *entry = shard->first;
    shard->first = entry;
    shard->entries++;
    pthread_mutex_unlock(&shard->lock);
  }
}

// The array begins on a line.
struct bucket {
  pthread_mutex_t lock;
  void *first;
  unsigned long spare;
  unsigned long entries;
};

static struct bucket buckets[16] __attribute__((aligned(64)));

void put(unsigned long key, void **entry) {
  struct bucket *bucket = &buckets[key % 16];
  for (int i = 0; i < 4; i++) {
    pthread_mutex_lock(&bucket->lock);
    *entry = bucket->first;
    bucket->first = entry;
    bucket->entries++;
    pthread_mutex_unlock(&bucket->lock);
  }
}

// What is used of an element is on one half of its line, wherever the array begins.
struct stripe {
  pthread_spinlock_t lock;
  unsigned long entries;
  unsigned long spare[6];
};

static struct stripe stripes[16];

void drop(unsigned long key) {
  struct stripe *stripe = &stripes[key % 16];
  for (int i = 0; i < 4; i++) {
    pthread_spin_lock(&stripe->lock);
    stripe->entries--;
    pthread_spin_unlock(&stripe->lock);
  }
}
