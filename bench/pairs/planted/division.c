// Hashes numbers; SLOW divides where a mask would do.
#include "planted.h"

static unsigned long sums[WORKERS][16];
static volatile unsigned long buckets = 1024;

__attribute__((noinline)) static unsigned long hash(unsigned long key) {
  key ^= key >> 33;
  key *= 0xff51afd7ed558ccdUL;
#ifdef SLOW
  return (key / buckets) % (buckets - 1);
#else
  return key & (buckets - 1);
#endif
}

__attribute__((noinline)) static unsigned long fold(unsigned long seed) {
  for (int i = 0; i < 20; i++)
    seed = (seed << 5) ^ (seed >> 3) ^ i;
  return seed;
}

static void round_of(int worker) {
  for (int i = 0; i < 100; i++)
    sums[worker][0] += hash(fold(sums[worker][0] + i));
}

int main(int argc, char **argv) { run(argc, argv); }
