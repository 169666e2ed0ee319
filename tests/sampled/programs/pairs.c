// Two threads, each on a processor of its own, update counters that the argument places: on the heap, on a stack, in
// static storage.  PAD gives each counter a line of its own.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef PAD
#define OWN _Alignas(64)
#else
#define OWN
#endif

struct pair {
  OWN volatile long in;
  OWN volatile long out;
};

struct slot {
  OWN volatile long hits;
};

struct node {
  struct node *next;
  volatile long mine[2];
};

_Alignas(64) struct pair traffic;
_Alignas(64) static struct pair often, seldom, rarely;
_Alignas(64) struct slot slots[8];
_Alignas(64) _Atomic long requests;
static _Alignas(64) volatile int stop;
static _Alignas(64) pthread_barrier_t barrier;

static void pin(long processor) {
  cpu_set_t allowed, one;
  sched_getaffinity(0, sizeof allowed, &allowed);
  processor %= CPU_COUNT(&allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &allowed) && !processor--) {
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      pthread_setaffinity_np(pthread_self(), sizeof one, &one);
      return;
    }
}

struct job {
  long number;
  void (*work)(struct job *);
  void *data;
};

static void count_in(struct job *job) {
  struct pair *pair = job->data;
  do pair->in++;
  while (!stop);
}

static void count_out(struct job *job) {
  struct pair *pair = job->data;
  do pair->out++;
  while (!stop);
}

static void count_requests(struct job *job) {
  do requests++;
  while (!stop);
}

static void count_slot(struct job *job) {
  volatile long *mine = &slots[job->number].hits;
  do ++*mine;
  while (!stop);
}

// One side of each pair: a quarter and a sixteenth as often for the other two, in between: threads that wait for each
// other's lines fall into step, and each would be seen at one pair for a while if it took them one after the other.
static void three_in(struct job *job) {
  while (!stop) {
    for (int i = 0; i < 64; i++) {
      often.in++;
      if (i % 4 == 1) seldom.in++;
      if (i % 16 == 3) rarely.in++;
    }
  }
}

static void three_out(struct job *job) {
  while (!stop) {
    for (int i = 0; i < 64; i++) {
      often.out++;
      if (i % 4 == 1) seldom.out++;
      if (i % 16 == 3) rarely.out++;
    }
  }
}

static long now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// One thread counts while the other waits at the barrier, then the other way round.
static void in_turns(struct job *job) {
  struct pair *pair = job->data;
  volatile long *mine = job->number ? &pair->out : &pair->in;
  for (long phase = 0; phase < 12; phase++) {
    long end = now_ms() + 50;
    if (phase % 2 == job->number)
      while (now_ms() < end)
        for (int i = 0; i < 100000; i++) ++*mine;
    pthread_barrier_wait(&barrier);
  }
}

static void walk(struct job *job) {
  for (struct node *node = job->data; !stop; node = node->next) node->mine[job->number]++;
}

static void *start(void *argument) {
  struct job *job = argument;
  pin(job->number);
  job->work(job);
  return 0;
}

static void run(int threads, void (*a)(struct job *), void (*b)(struct job *), void *data) {
  pthread_t ids[8];
  struct job jobs[8];
  for (long i = 0; i < threads; i++) {
    jobs[i] = (struct job){i, i % 2 ? b : a, data};
    pthread_create(&ids[i], 0, start, &jobs[i]);
  }
  struct timespec time = {1, 0};
  if (a != in_turns) nanosleep(&time, 0);
  stop = 1;
  for (int i = 0; i < threads; i++) pthread_join(ids[i], 0);
}

static void *list(long nodes) {
  // In an order of its own, so that no prefetcher follows.
  struct node *all = aligned_alloc(64, nodes * sizeof *all);
  memset(all, 0, nodes * sizeof *all);
  for (long i = 0, at = 0; i < nodes; i++, at = (at + 331) % nodes) all[at].next = &all[(at + 331) % nodes];
  return all;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "global";
  struct pair *heap = aligned_alloc(64, sizeof *heap);
  _Alignas(64) struct pair local = {0};
  memset(heap, 0, sizeof *heap);
  pthread_barrier_init(&barrier, 0, 2);
  if (!strcmp(what, "global")) run(2, count_in, count_out, &traffic);
  if (!strcmp(what, "heap")) run(2, count_in, count_out, heap);
  if (!strcmp(what, "stack")) run(2, count_in, count_out, &local);
  if (!strcmp(what, "alone")) run(1, count_in, count_in, &traffic);
  if (!strcmp(what, "requests")) run(2, count_requests, count_requests, 0);
  if (!strcmp(what, "slots")) run(4, count_slot, count_slot, 0);
  if (!strcmp(what, "three")) run(2, three_in, three_out, 0);
  if (!strcmp(what, "turns")) run(2, in_turns, in_turns, &traffic);
  if (!strcmp(what, "list")) run(2, walk, walk, list(1024));
  return 0;
}
