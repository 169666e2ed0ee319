// What it takes to hand a cache line to another processor: two pinned threads
// take turns at one counter. Prints the best round in ns a hand-over.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { TURNS = 2000, ROUNDS = 400 };

static _Alignas(128) atomic_long turn;
static int processors[2];

static void pin(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

static void take_turns(long mine, long rounds) {
  for (long at = mine; at < rounds; at += 2) {
    while (atomic_load_explicit(&turn, memory_order_acquire) != at)
      ;
    atomic_store_explicit(&turn, at + 1, memory_order_release);
  }
}

static void *other(void *unused) {
  pin(processors[1]);
  take_turns(1, (long)TURNS * ROUNDS);
  return unused;
}

int main(void) {
  cpu_set_t may;
  sched_getaffinity(0, sizeof may, &may);
  int found = 0;
  for (int at = 0; at < CPU_SETSIZE && found < 2; at++)
    if (CPU_ISSET(at, &may))
      processors[found++] = at;
  if (found < 2)
    return 2;
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  pin(processors[0]);
  double best = 1e9;
  for (long round = 0; round < ROUNDS; round++) {
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    const long until = (round + 1) * TURNS;
    for (long at = round * TURNS; at < until; at += 2) {
      while (atomic_load_explicit(&turn, memory_order_acquire) != at)
        ;
      atomic_store_explicit(&turn, at + 1, memory_order_release);
    }
    clock_gettime(CLOCK_MONOTONIC, &after);
    const double ns = (double)(after.tv_sec - before.tv_sec) * 1e9 + (double)(after.tv_nsec - before.tv_nsec);
    if (ns / TURNS < best)
      best = ns / TURNS;
  }
  pthread_join(thread, NULL);
  printf("%.1f\n", best);
  return 0;
}
