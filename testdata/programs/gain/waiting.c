// Bursts of counting between waits, as a server does that mostly waits for its
// network.
#include "apart.h"
#include <time.h>

struct slot {
  APART volatile uint64_t done;
};

static ONE_LINE struct slot slots[2];

static void *serve(void *number) {
  struct slot *own = &slots[(intptr_t)number];
  const struct timespec pause = {.tv_nsec = 6000000};
  uint64_t value = 1;
  for (int burst = 0; burst < 60; burst++) {
    for (int i = 0; i < 60000; i++) {
      value = compute(value, 4);
      own->done += value >> 63;
    }
    nanosleep(&pause, NULL);
  }
  return NULL;
}

int main(void) {
  run_threads(serve, 2);
  printf("%llu\n", (unsigned long long)(slots[0].done + slots[1].done));
}
