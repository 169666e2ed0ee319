#include "pool.h"

static pthread_t cleaners[8];
static int running;
static atomic_int stopping;

static void *clean(void *unused) {
  (void)unused;
  while (!atomic_load(&stopping)) {
    void *kept[16];
    for (int i = 0; i < 16; ++i)
      kept[i] = pool_take((size_t)i * 24);
    for (int i = 0; i < 16; ++i)
      if (kept[i])
        pool_give(kept[i]);
  }
  return NULL;
}

int pool_start(int threads) {
  if (threads > 8)
    return 2;
  for (running = 0; running < threads; ++running)
    if (pthread_create(&cleaners[running], NULL, clean, NULL))
      return 1;
  return 0;
}

void pool_stop(void) {
  atomic_store(&stopping, 1);
  for (int i = 0; i < running; ++i)
    pthread_join(cleaners[i], NULL);
}
