// A configuration that one thread reads all the time; another counts reloads
// and requests right behind it.
#include "apart.h"

static struct {
  ONE_LINE volatile uint32_t limits[6];
  APART volatile uint64_t requests;
} server = {.limits = {3, 5, 7, 11, 13, 17}};

static uint64_t results[2][8];

static uint64_t check(uint64_t value) {
  for (int i = 0; i < 6; i++)
    value = (value ^ server.limits[i]) * 0x9e3779b97f4a7c15u;
  return value;
}

static void *work(void *number) {
  uint64_t value = 1;
  if (number)
    for (int i = 0; i < 9000000; i++) {
      value = compute(value, 30);
      server.requests++;
    }
  else
    for (int i = 0; i < 40000000; i++)
      value = check(value);
  results[number != NULL][0] = value;
  return NULL;
}

int main(void) {
  run_threads(work, 2);
  printf("%llx\n", (unsigned long long)(results[0][0] ^ results[1][0]));
}
