// What all planted programs share: workers for a fixed time, their pace, and a
// pair of counters that no load of theirs touches. MOVED takes away what keeps
// these apart: a move of the layout that is innocent of whatever became slower.
#ifndef PLANTED_H
#define PLANTED_H
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORKERS 2
#define LINE 64

static volatile int stopped;
static unsigned long rounds_of[WORKERS][16]; // two lines each

__attribute__((aligned(LINE))) volatile long trace_ins;
#ifndef MOVED
char trace_title[LINE - 8];
#endif
volatile long trace_outs;
volatile int tracing;
__attribute__((aligned(LINE))) char after_traces[LINE];

__attribute__((noinline)) static void trace_in(void) {
  for (int i = 0; i < 1000; i++)
    __atomic_fetch_add(&trace_ins, i & 3, __ATOMIC_SEQ_CST);
}

__attribute__((noinline)) static void trace_out(void) {
  for (int i = 0; i < 1000; i++)
    __atomic_fetch_add(&trace_outs, i & 3, __ATOMIC_SEQ_CST);
}

// One round of worker 0 and of worker 1: each program has its own.
static void round_of(int worker);

static void *worker_main(void *number) {
  int worker = (int)(long)number;
  unsigned long rounds = 0;
  while (!stopped) {
    round_of(worker);
    ++rounds;
    if (tracing & 1)
      trace_in();
    if (tracing & 2)
      trace_out();
  }
  rounds_of[worker][0] = rounds;
  return NULL;
}

static void run(int argc, char **argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 0.3;
  tracing = argc > 2 ? atoi(argv[2]) : 0;
  pthread_t workers[WORKERS];
  for (long i = 0; i < WORKERS; i++)
    pthread_create(&workers[i], NULL, worker_main, (void *)i);
  struct timespec nap = {(time_t)seconds, (long)((seconds - (long)seconds) * 1e9)};
  nanosleep(&nap, NULL);
  stopped = 1;
  unsigned long rounds = 0;
  for (int i = 0; i < WORKERS; i++) {
    pthread_join(workers[i], NULL);
    rounds += rounds_of[i][0];
  }
  printf("rounds_per_s\n%.1f\n", (double)rounds / seconds);
}

#endif
