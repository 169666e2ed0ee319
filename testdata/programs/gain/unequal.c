// Two threads with different amounts of work: they disturb each other only
// until the short one is done.
#include "apart.h"

static struct {
  ONE_LINE volatile long small;
  APART volatile long large;
} counts;

static void *count(void *number) {
  uint64_t value = 1;
  long end = number ? 60000000 : 8000000;
  volatile long *own = number ? &counts.large : &counts.small;
  for (long i = 0; i < end; i++) {
    value = compute(value, 4);
    *own += (long)(value >> 60);
  }
  return NULL;
}

int main(void) {
  run_threads(count, 2);
  printf("%ld\n", counts.small + counts.large);
}
