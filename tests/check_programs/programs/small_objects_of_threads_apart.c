// Objects at the number of a thread: of a line each, read only, or allocated by the threads themselves.
// no-finding
#include <pthread.h>
#include <stdlib.h>

struct counts {
  unsigned long done;
  unsigned long failed;
} __attribute__((aligned(64)));

struct limits {
  unsigned long most;
};

struct own {
  unsigned long done;
};

static struct counts **all;
static struct limits **limits;
static struct own **owned;
static _Thread_local int number;

static void note(unsigned seed) {
  if (seed < limits[number]->most)
    all[number]->done++;
  owned[number]->done++;
}

static void *work(void *argument) {
  number = (int)(long)argument;
  owned[number] = calloc(1, sizeof(struct own));
  for (unsigned seed = 1;; seed = seed * 1103515245u + 12345u)
    note(seed);
}

int main(void) {
  pthread_t threads[8];
  all = malloc(8 * sizeof *all);
  limits = malloc(8 * sizeof *limits);
  owned = malloc(8 * sizeof *owned);
  for (int i = 0; i < 8; i++) {
    all[i] = aligned_alloc(64, sizeof(struct counts));
    all[i]->done = 0;
    all[i]->failed = 0;
    limits[i] = malloc(sizeof(struct limits));
    limits[i]->most = 1ul << 31;
  }
  for (long i = 0; i < 8; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 8; i++)
    pthread_join(threads[i], 0);
}
