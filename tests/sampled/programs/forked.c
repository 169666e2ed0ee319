// Two child processes count.  copies: in globals, of which each has its own copy at the same address.  Expected: nothing;
// code that could touch either counter was once held against both processes.  mapped: in a page that both map.
// Expected: false sharing of the page's two counters.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long requests, errors;

static int late(const struct timespec *start) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000 > 450;
}

static void count_own(int me) {
  for (long i = 0; i < 100000; i++) {
    if (me)
      requests++;
    else
      errors++;
    __asm__ volatile("" ::: "memory");
  }
}

static void count_mapped(volatile unsigned long *mine) {
  for (long i = 0; i < 100000; i++) ++*mine;
}

int main(int argc, char **argv) {
  struct timespec start;
  int mapped = argc > 1 && !strcmp(argv[1], "mapped");
  unsigned long *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int me = 0; me < 2; me++) {
    if (fork()) continue;
    while (!late(&start))
      if (mapped)
        count_mapped(page + me);
      else
        count_own(me);
    _exit(0);
  }
  while (wait(NULL) > 0) continue;
  return requests + errors == 1;
}
