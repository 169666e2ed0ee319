// One thread prepares, two count side by side, two compute apart: only the
// middle part shares a line.
#include "apart.h"

enum { KEYS = 1 << 16 };

static uint64_t keys[KEYS];
static struct {
  APART volatile uint64_t odd, even;
} totals[2] __attribute__((aligned(64)));
static uint64_t results[2][8];

static void prepare(void) {
  uint64_t value = 1;
  for (int round = 0; round < 800; round++)
    for (int i = 0; i < KEYS; i++)
      keys[i] = value = value * 6364136223846793005u + 1;
}

static void *tally(void *number) {
  for (int round = 0; round < 220; round++)
    for (int i = 0; i < KEYS; i++) {
      if (keys[i] & 1)
        totals[(intptr_t)number].odd++;
      else
        totals[(intptr_t)number].even++;
    }
  return NULL;
}

static void *hash(void *number) {
  results[(intptr_t)number][0] = compute((uint64_t)(intptr_t)number, 200000000);
  return NULL;
}

int main(void) {
  prepare();
  run_threads(tally, 2);
  run_threads(hash, 2);
  printf("%llx\n", (unsigned long long)(totals[0].odd + totals[1].even +
                                        results[0][0] + results[1][0]));
}
