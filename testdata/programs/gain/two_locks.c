// Two mutexes side by side, each taken by one thread only: never contended,
// always disturbed.
#include "apart.h"

struct pool {
  APART pthread_mutex_t lock;
  uint64_t *items;
};

static struct pool pools[2] __attribute__((aligned(64)));
static uint64_t items[2][64];

static void *use(void *number) {
  struct pool *own = &pools[(intptr_t)number];
  for (int i = 0; i < 12000000; i++) {
    pthread_mutex_lock(&own->lock);
    own->items[i % 8] = compute(own->items[i % 8], 12);
    pthread_mutex_unlock(&own->lock);
  }
  return NULL;
}

int main(void) {
  for (int i = 0; i < 2; i++) {
    pthread_mutex_init(&pools[i].lock, NULL);
    pools[i].items = items[i];
  }
  run_threads(use, 2);
  printf("%llx\n", (unsigned long long)(items[0][1] ^ items[1][2]));
}
