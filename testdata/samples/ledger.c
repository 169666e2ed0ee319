/*
 * A mutex that only one thread ever takes, and beside it a clock that another
 * thread moves on.  Nobody waits for the mutex; its line is what is lost.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef APART
#define GAP 0
#else
#define GAP 128
#endif

struct ledger {
  pthread_mutex_t lock;
  uint64_t entries;
  char gap[GAP];
  volatile uint64_t ticks;
};

static struct ledger ledger __attribute__((aligned(64))) = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

static void *clerk(void *arg) {
  int i;

  for (i = 0; i < 12000000; i++) {
    pthread_mutex_lock(&ledger.lock);
    ledger.entries += 3;
    pthread_mutex_unlock(&ledger.lock);
  }
  return (arg);
}

static void *clockwork(void *arg) {
  long i;

  for (i = 0; i < 90000000; i++)
    ledger.ticks = i;
  return (arg);
}

int main(void) {
  pthread_t t[2];

  if (pthread_create(&t[0], NULL, clerk, NULL) != 0 ||
      pthread_create(&t[1], NULL, clockwork, NULL) != 0)
    abort();
  pthread_join(t[0], NULL);
  pthread_join(t[1], NULL);
  return (0);
}
