// One object a thread, each allocated alone: nothing that is known is shared.
// no-finding
#include <pthread.h>
#include <stdlib.h>
struct worker {
  pthread_t id;
  long hits;
  long misses;
};
static void *work(void *arg) {
  struct worker *self = arg;
  for (long i = 0; i < 1000000; i++) {
    if (i & 1)
      self->hits++;
    else
      self->misses++;
  }
  return 0;
}
int main(void) {
  struct worker *workers[8];
  for (int i = 0; i < 8; i++) {
    workers[i] = calloc(1, sizeof *workers[i]);
    pthread_create(&workers[i]->id, 0, work, workers[i]);
  }
  for (int i = 0; i < 8; i++)
    pthread_join(workers[i]->id, 0);
  return 0;
}
