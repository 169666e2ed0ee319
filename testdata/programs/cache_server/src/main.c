/* Runs `threads=N` workers for `seconds=S` and prints what they did. */
#include "cache.h"
#include "settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 64 };

static volatile int stop;

static void *work(void *loops) {
  long done = 0;
  while (!stop) {
    struct table *mine = cache_idle() ? cache_take() : NULL;
    if (mine) {
      mine->uses++;
      cache_put(mine);
    }
    done++;
  }
  *(long *)loops = done;
  return NULL;
}

int main(int argc, char **argv) {
  int threads = 2;
  double seconds = 0.02;
  for (int at = 1; at < argc; at++) {
    if (!strncmp(argv[at], "threads=", 8)) threads = atoi(argv[at] + 8);
    if (!strncmp(argv[at], "seconds=", 8)) seconds = atof(argv[at] + 8);
  }
  if (threads < 1 || threads > MOST_THREADS) threads = 1;
  static struct table tables[8];
  for (int at = 0; at < 8; at++) cache_put(&tables[at]);
  pthread_t workers[MOST_THREADS];
  long loops[MOST_THREADS] = {0}, sum = 0;
  for (int at = 0; at < threads; at++) pthread_create(&workers[at], NULL, work, &loops[at]);
  nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - (long)seconds))}, NULL);
  stop = 1;
  for (int at = 0; at < threads; at++) {
    pthread_join(workers[at], NULL);
    sum += loops[at];
  }
  printf("%s on port %ld\nops_per_s %.0f\nqps %.0f\n", greeting, port, sum / seconds, sum / seconds);
  return 0;
}
