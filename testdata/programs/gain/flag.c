// A switch that is read before every step, beside a counter that another thread
// keeps.
#include "apart.h"

static struct {
  ONE_LINE volatile int verbose;
  APART volatile long steps_of_writer;
} shared;

static uint64_t results[2][8];

static void *work(void *number) {
  uint64_t value = 1;
  if (number) {
    for (long i = 0; i < 75000000; i++) {
      shared.steps_of_writer++;
      value = compute(value, 3);
    }
  } else {
    for (long i = 0; i < 75000000; i++) {
      value = compute(value, 4);
      if (shared.verbose)
        printf("%ld\n", i);
    }
  }
  results[number != NULL][0] = value;
  return NULL;
}

int main(void) {
  run_threads(work, 2);
  printf("%llx\n", (unsigned long long)(results[0][0] ^ results[1][0]));
}
