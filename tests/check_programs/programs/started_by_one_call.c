// Threads that one call starts, on each core one, run at one time: neither that it is made once nor that it is made
// again when all have ended puts one of them behind another.
// expect: packed-thread-slots high hits
#include <stdint.h>
#include <stdio.h>

unsigned rte_lcore_id(void);
int rte_eal_mp_remote_launch(int (*entry)(void *), void *argument, int call_main);
void rte_eal_mp_wait_lcore(void);

static volatile int running = 1;
static uint64_t hits[128];

static int count(void *argument) {
  unsigned core = rte_lcore_id();
  while (running) hits[core]++;
  return argument != 0;
}

int main(void) {
  rte_eal_mp_remote_launch(count, 0, 0);
  rte_eal_mp_wait_lcore();
  rte_eal_mp_remote_launch(count, 0, 1);
  rte_eal_mp_wait_lcore();
  return printf("%llu\n", (unsigned long long)hits[0]) < 0;
}
