// Small objects, allocated one after the other: the pointer at the number of a thread leads to the one that it changes.
// expect: thread-elements-meet medium counts
#include <pthread.h>
#include <stdlib.h>

struct counts {
  unsigned long done;
  unsigned long failed;
};

static struct counts **all;
static _Thread_local int number;

static void note(unsigned seed) {
  all[number]->done++;
  if (seed & 16)
    all[number]->failed++;
}

static void *work(void *argument) {
  number = (int)(long)argument;
  for (unsigned seed = 1;; seed = seed * 1103515245u + 12345u)
    note(seed);
}

int main(void) {
  pthread_t threads[8];
  all = malloc(8 * sizeof *all);
  for (int i = 0; i < 8; i++) {
    all[i] = malloc(sizeof(struct counts));
    all[i]->done = 0;
    all[i]->failed = 0;
  }
  for (long i = 0; i < 8; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 8; i++)
    pthread_join(threads[i], 0);
}
