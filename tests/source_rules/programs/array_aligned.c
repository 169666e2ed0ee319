// The attribute is on the array: eight counters to a line.
// expect: array-aligned-not-element medium counters
// expect: array-aligned-not-element medium thread_hits
#include <stddef.h>

struct counter {
  long hits;
  long misses;
};

static struct counter counters[16] __attribute__((aligned(64)));
static long thread_hits[16] __attribute__((aligned(64)));

void count(size_t self, int hit) {
  if (hit)
    counters[self].hits++;
  else
    counters[self].misses++;
  thread_hits[self]++;
}
