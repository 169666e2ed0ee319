// Counts under one of several locks, as many as a setting says; SLOW sets one.
// Code and layout stay as they are.
#include "planted.h"

struct stripe {
  volatile int held;
  volatile long count;
} __attribute__((aligned(LINE)));

static struct stripe stripes[16];
#ifdef SLOW
volatile int stripes_used = 1;
#else
volatile int stripes_used = 16;
#endif

__attribute__((noinline)) static void stripe_lock(struct stripe *stripe) {
  while (__atomic_exchange_n(&stripe->held, 1, __ATOMIC_ACQUIRE))
    while (stripe->held)
      __builtin_ia32_pause();
}

__attribute__((noinline)) static void stripe_unlock(struct stripe *stripe) {
  __atomic_store_n(&stripe->held, 0, __ATOMIC_RELEASE);
}

__attribute__((noinline)) static void count(struct stripe *stripe, long rounds) {
  for (long i = 0; i < rounds; i++)
    stripe->count += i & 3;
}

static void round_of(int worker) {
  struct stripe *stripe = &stripes[worker * 8 % stripes_used];
  stripe_lock(stripe);
  count(stripe, 60);
  stripe_unlock(stripe);
}

int main(int argc, char **argv) { run(argc, argv); }
