#include "jobs.h"
#include <stdio.h>

int main(void) {
  verbose = option("JOBS_VERBOSE", 0);
  start_workers(option("JOBS_THREADS", 4), option("JOBS_ROUNDS", 100000));
  join_workers();
  printf("%ld jobs, %ld bytes\n", (long)atomic_load(&jobs_done), bytes_seen);
  return 0;
}
