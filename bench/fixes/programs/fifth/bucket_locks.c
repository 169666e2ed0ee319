// Spin locks of a hash table's buckets, one word each in an array, taken by whoever looks up a key.
// about: bucket_locks slot_lock
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define BUCKETS 256

struct entry {
  struct entry *next;
  uint64_t key;
  uint64_t value;
};

#ifdef FIXED
struct slot_lock {
  _Alignas(64) atomic_int word;
};
#else
struct slot_lock {
  atomic_int word;
};
#endif

static struct slot_lock bucket_locks[BUCKETS];
static struct entry *buckets[BUCKETS];
#ifdef EDIT
static int rehashing;
#endif
extern uint64_t next_key(void *source);

static void slot_acquire(struct slot_lock *lock) {
  int free_word = 0;
  while (!atomic_compare_exchange_weak_explicit(&lock->word, &free_word, 1, memory_order_acquire, memory_order_relaxed))
    free_word = 0;
}

static void slot_release(struct slot_lock *lock) { atomic_store_explicit(&lock->word, 0, memory_order_release); }

static unsigned bucket_of(uint64_t key) { return (unsigned)((key * 0x9e3779b97f4a7c15ull) >> 56) % BUCKETS; }

static void add(uint64_t key, uint64_t amount) {
  unsigned at = bucket_of(key);
  slot_acquire(&bucket_locks[at]);
  struct entry *entry = buckets[at];
  while (entry && entry->key != key)
    entry = entry->next;
  if (!entry) {
    entry = malloc(sizeof *entry);
    *entry = (struct entry){.next = buckets[at], .key = key};
    buckets[at] = entry;
  }
  entry->value += amount;
  slot_release(&bucket_locks[at]);
}

static void *count_keys(void *source) {
  for (uint64_t key; (key = next_key(source)) != 0;)
    add(key, 1);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[8];
  int started = 0;
  for (int i = 1; i < argc && started < 8; i++)
    pthread_create(&threads[started++], NULL, count_keys, argv[i]);
  while (started > 0)
    pthread_join(threads[--started], NULL);
  return 0;
}
