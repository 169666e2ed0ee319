// Two counters of one struct, each with a thread of its own, nothing else in
// the loop.
#include "apart.h"

static struct {
  ONE_LINE volatile long requests;
  APART volatile long replies;
} counts;

static void *count(void *number) {
  volatile long *own = number ? &counts.replies : &counts.requests;
  for (long i = 0; i < 200000000; i++)
    (*own)++;
  return NULL;
}

int main(void) {
  run_threads(count, 2);
  printf("%ld\n", counts.requests + counts.replies);
}
