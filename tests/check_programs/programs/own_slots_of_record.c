// The number of a thread is kept in a record of its own, to which a thread-local pointer leads.
// expect: packed-thread-slots medium counts[]
#include <pthread.h>
#include <stdlib.h>

struct thread_data {
  int my_index;
  unsigned seed;
};

static __thread struct thread_data *self;
static unsigned long *counts;

static void count(void) {
  struct thread_data *td = self;
  counts[td->my_index]++;
}

static void *run(void *number) {
  self = malloc(sizeof *self);
  self->my_index = (int)(long)number;
  for (;;)
    count();
  return 0;
}

int main(void) {
  pthread_t threads[8];
  counts = calloc(8, sizeof *counts);
  for (long i = 0; i < 8; i++)
    pthread_create(&threads[i], 0, run, (void *)i);
  for (int i = 0; i < 8; i++)
    pthread_join(threads[i], 0);
}
