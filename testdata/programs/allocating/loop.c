// Allocates and frees again and again, with some work between, and prints the processor seconds that it took.
//   loop ALLOCATIONS WORK      so many pairs of malloc and free, each after so many steps of work
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned long worked(unsigned long value, long steps) {
  for (long i = 0; i < steps; i++)
    value = value * 6364136223846793005ul + 1442695040888963407ul;
  return value;
}

int main(int count, char **arguments) {
  if (count != 3)
    return 2;
  long allocations = atol(arguments[1]), steps = atol(arguments[2]);
  unsigned long value = 1;
  for (long i = 0; i < allocations; i++) {
    value = worked(value, steps);
    unsigned long *block = malloc(16 + value % 64);
    if (!block)
      return 1;
    *(volatile unsigned long *)block = value;
    free(block);
  }
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  printf("processor_s %f\nvalue %lu\n", (double)used.tv_sec + (double)used.tv_nsec / 1e9, value);
  return 0;
}
