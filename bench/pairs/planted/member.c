// Connections in one block of the heap, one a worker; SLOW adds a member, so
// that the end of one and the beginning of the next come onto one line.
#include "planted.h"

struct conn {
  volatile long served;
  long limits[6];
#ifdef SLOW
  long traced;
#endif
  volatile long failed;
};

static struct conn *conns;

__attribute__((noinline)) static void serve(struct conn *c) {
  for (int i = 0; i < 100; i++) {
    __atomic_fetch_add(&c->served, i & 3, __ATOMIC_RELAXED);
    __atomic_fetch_add(&c->failed, i & 1, __ATOMIC_RELAXED);
  }
}

static void round_of(int worker) { serve(&conns[worker]); }

int main(int argc, char **argv) {
  conns = aligned_alloc(LINE, WORKERS * 2 * LINE);
  memset(conns, 0, WORKERS * 2 * LINE);
  run(argc, argv);
}
