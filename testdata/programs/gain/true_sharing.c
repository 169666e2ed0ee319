// One counter for all threads: a line of its own, which is the remedy here,
// changes nothing.
#include "apart.h"

static struct {
  ONE_LINE long spare;
  APART long tickets;
  char rest[8];
} shop;

static uint64_t results[2][8];

static void *buy(void *number) {
  uint64_t value = 1;
  for (int i = 0; i < 10000000; i++) {
    value = compute(value, 8);
    __atomic_fetch_add(&shop.tickets, 1, __ATOMIC_RELAXED);
  }
  results[(intptr_t)number][0] = value;
  return NULL;
}

int main(void) {
  run_threads(buy, 2);
  printf("%ld\n", shop.tickets + shop.spare);
}
