// The same in one array: three workers to a line and a half.
// expect: packed-thread-slots high workers
#include <pthread.h>
static struct worker {
  pthread_t id;
  long hits;
  long misses;
} workers[8];
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
  for (int i = 0; i < 8; i++)
    pthread_create(&workers[i].id, 0, work, &workers[i]);
  for (int i = 0; i < 8; i++)
    pthread_join(workers[i].id, 0);
  return 0;
}
