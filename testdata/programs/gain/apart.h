// What the programs of this folder share: the remedy, starting threads, and
// work that touches no memory.
//
// APART before a member or variable, and OWN_LINES(type) after a struct's
// keyword, are nothing, or with -DPADDED the remedy that linemate proposes.
#ifndef APART_H
#define APART_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ALIGNED_AS(bytes) __attribute__((aligned(bytes)))

#ifdef PADDED
#define APART ALIGNED_AS(64)
#else
#define APART
#endif

// Keeps the whole group of small variables on one line in either build, so that
// only the remedy differs.
#define ONE_LINE ALIGNED_AS(64)

typedef void *(*thread_body)(void *);

// One thread as run_threads starts it.
struct start {
  pthread_t thread;
  thread_body body;
  intptr_t number;
};

// Threads on one processor take turns rather than share lines: each goes to its
// own, of those that are allowed.
static inline void *start_thread(void *argument) {
  struct start *own = (struct start *)argument;
  cpu_set_t allowed, one;
  if (!sched_getaffinity(0, sizeof(allowed), &allowed) && CPU_COUNT(&allowed)) {
    int skip = (int)own->number % CPU_COUNT(&allowed), cpu = 0;
    while (!CPU_ISSET(cpu, &allowed) || skip--)
      cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
  }
  return own->body((void *)own->number);
}

// Runs ``count`` threads, the n-th with the argument (void *)n, and waits for
// all.
static inline void run_threads(thread_body body, int count) {
  struct start starts[16];
  for (int number = 0; number < count; number++) {
    starts[number].body = body;
    starts[number].number = number;
    if (pthread_create(&starts[number].thread, NULL, start_thread,
                       &starts[number]))
      exit(1);
  }
  for (int number = 0; number < count; number++)
    pthread_join(starts[number].thread, NULL);
}

// A chain of multiplications: each step waits for the one before, some 1.3 ns.
static inline uint64_t compute(uint64_t seed, unsigned steps) {
  for (unsigned step = 0; step < steps; step++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    // Several known steps could be folded into one.
    __asm__ volatile("" : "+r"(seed));
  }
  return seed;
}

#endif
