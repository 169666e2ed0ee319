// Slots of an array, one a thread, with WORK steps of computing between two
// updates: one source, several ratios.
#include "apart.h"

#ifndef WORK
#define WORK 20
#endif
#ifndef UPDATES
#define UPDATES 10000000
#endif
#ifndef THREADS
#define THREADS 2
#endif

struct slot {
  APART volatile uint64_t done;
  volatile uint64_t last;
};

static ONE_LINE struct slot slots[THREADS];

static void *work(void *number) {
  struct slot *own = &slots[(intptr_t)number];
  uint64_t value = 1;
  for (long i = 0; i < UPDATES; i++) {
    value = compute(value, WORK);
    own->done++;
    own->last = value;
  }
  return NULL;
}

int main(void) {
  run_threads(work, THREADS);
  uint64_t total = 0;
  for (int i = 0; i < THREADS; i++)
    total += slots[i].done ^ slots[i].last;
  printf("%llx\n", (unsigned long long)total);
}
