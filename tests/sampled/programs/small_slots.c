// Four threads on whatever processors there are, each with its int of an array of 16 bytes.  Expected: false sharing of
// the elements, by name.  It was called true sharing while a small array counted as one thing.
// With one: all threads update the same element, which is true sharing.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static _Alignas(64) int progress[4];
static _Alignas(64) char after[64];

static int late(const struct timespec *start) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000 > 450;
}

static void *work(void *arg) {
  struct timespec start;
  int me = (int)(long)arg;
  unsigned x = me;
  clock_gettime(CLOCK_MONOTONIC, &start);
  while (!late(&start))
    for (long i = 0; i < 100000; i++) {
      x = x * 1664525u + 1013904223u;
      progress[me] += x >> 31;
      __asm__ volatile("" ::: "memory");
    }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[4];
  int one = argc > 1 && !strcmp(argv[1], "one");
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)(one ? 0 : i));
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return progress[0] + after[0] == -1;
}
