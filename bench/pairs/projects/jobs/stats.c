#include "jobs.h"

static long sizes[3];
long bytes_seen;
atomic_long jobs_done;
static __thread long mine_done;
static __thread long mine_bytes;

void count_job(unsigned size) {
  atomic_fetch_add(&jobs_done, 1);
  ++mine_done;
  mine_bytes += size;
  sizes[size % 3]++;
  if ((mine_done & 1023) == 0)
    bytes_seen += mine_bytes;
}
