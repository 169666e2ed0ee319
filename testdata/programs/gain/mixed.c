// A total for all threads and a share of each thread on one line: the total
// goes on costing when they are apart.
#include "apart.h"

static struct {
  ONE_LINE long total;
  APART volatile long own_0;
  APART volatile long own_1;
} counts;

static void *count(void *number) {
  volatile long *own = number ? &counts.own_1 : &counts.own_0;
  uint64_t value = 1;
  for (int i = 0; i < 30000000; i++) {
    value = compute(value, 6);
    *own += (long)(value >> 62);
    if (i % 8 == 0)
      __atomic_fetch_add(&counts.total, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

int main(void) {
  run_threads(count, 2);
  printf("%ld %ld\n", counts.total, counts.own_0 + counts.own_1);
}
