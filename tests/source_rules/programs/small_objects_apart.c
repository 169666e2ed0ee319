// An object for the only thread, objects that a thread only reads, and objects on lines of their own.
// no-finding
#include <pthread.h>
#include <stdlib.h>

extern int next(int);

struct context {
  unsigned long blocks;
  unsigned long matches;
};

static void *scan(void *argument) {
  struct context *mine = argument;
  for (int found; (found = next(0)) >= 0;) {
    mine->blocks++;
    mine->matches += found;
  }
  return 0;
}

void start(pthread_t *thread) {
  struct context *one = malloc(sizeof *one);
  one->blocks = one->matches = 0;
  pthread_create(thread, 0, scan, one);
}

struct range {
  int from;
  int to;
};

static void *walk(void *argument) {
  struct range *mine = argument;
  for (int i = mine->from; i < mine->to; i++)
    next(i);
  return 0;
}

struct aligned {
  unsigned long blocks;
} __attribute__((aligned(64)));

static void *count(void *argument) {
  struct aligned *mine = argument;
  while (next(1))
    mine->blocks++;
  return 0;
}

void start_all(pthread_t *threads, int count_of) {
  for (int i = 0; i < count_of; i++) {
    struct range *one = malloc(sizeof *one);
    one->from = i * 100;
    one->to = i * 100 + 100;
    pthread_create(&threads[2 * i], 0, walk, one);
    struct aligned *other = aligned_alloc(64, sizeof *other);
    other->blocks = 0;
    pthread_create(&threads[2 * i + 1], 0, count, other);
  }
}
