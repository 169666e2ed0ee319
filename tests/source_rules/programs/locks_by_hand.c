// Elements of a table with a lock of the program's own each, chosen by a hash; and three that are no locks.
// expect: thread-elements-meet medium partition
#include <stdint.h>
#include <stdlib.h>

struct partition {
  uint16_t kind;
  uint32_t state;
};
static struct partition *partitions;

static void take(struct partition *one) {
  uint32_t old = __atomic_load_n(&one->state, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&one->state, &old, old + 1, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    ;
}
static void give(struct partition *one) { __atomic_fetch_sub(&one->state, 1, __ATOMIC_RELEASE); }

void make(void) { partitions = calloc(128, sizeof *partitions); }
int under(uint32_t hash, int (*run)(uint32_t)) {
  struct partition *one = &partitions[hash % 128];
  take(one);
  int result = run(hash);
  give(one);
  return result;
}

struct counted {
  uint32_t references;
};
static struct counted *counted;

static void get(struct counted *one) { __atomic_fetch_add(&one->references, 1, __ATOMIC_RELAXED); }
static uint32_t put(struct counted *one) { return __atomic_fetch_sub(&one->references, 1, __ATOMIC_ACQ_REL); }
uint32_t use(uint32_t hash) {
  get(&counted[hash % 128]);
  return put(&counted[hash % 128]);
}

struct published {
  uint32_t version;
};
static struct published published[64];

static void publish(struct published *one) { __atomic_store_n(&one->version, 1, __ATOMIC_RELEASE); }
static uint32_t look(struct published *one) { return __atomic_load_n(&one->version, __ATOMIC_ACQUIRE); }
uint32_t renew(uint32_t hash) {
  publish(&published[hash % 64]);
  return look(&published[hash % 64]);
}

struct bucket {
  uintptr_t key;
  uint32_t value;
};
static struct bucket *buckets;

static int claim(struct bucket *one, uintptr_t key, uint32_t value) {
  uintptr_t none = 0;
  if (!__atomic_compare_exchange_n(&one->key, &none, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return 0;
  one->value = value;
  __atomic_store_n(&one->key, key, __ATOMIC_RELEASE);
  return 1;
}
int insert(uintptr_t key, uint32_t value) { return claim(&buckets[key % 128], key, value); }
