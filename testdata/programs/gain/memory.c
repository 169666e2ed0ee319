// Counters picked at random from a large table: two threads seldom meet on a
// line, and padding makes the table eight times as large as it has to be.
#include "apart.h"

enum { COUNTERS = 1 << 16 };

struct counter {
  APART volatile uint64_t value;
};

static struct counter counters[COUNTERS] __attribute__((aligned(64)));

static void *count(void *number) {
  uint64_t key = (uint64_t)(intptr_t)number + 1;
  for (int i = 0; i < 100000000; i++) {
    key = key * 6364136223846793005u + 1442695040888963407u;
    counters[(key >> 40) % COUNTERS].value++;
  }
  return NULL;
}

int main(void) {
  run_threads(count, 2);
  uint64_t total = 0;
  for (int i = 0; i < COUNTERS; i++)
    total += counters[i].value;
  printf("%llu\n", (unsigned long long)total);
}
