// What is busy at the end of one element and at the beginning of the next lie 53 bytes apart: of eight places at which
// an element may end, they are on a line at one.
// expect: thread-elements-meet low worker
#include <pthread.h>
#include <stdlib.h>

struct worker {
  long task;
  pthread_mutex_t lock;
  long filler[39];
  int group;
  long behind[5];
};
static struct worker *workers;
static unsigned count;

static void *serve(void *given) {
  for (unsigned long number = (unsigned long)given;; number = number * 13 + 7) {
    struct worker *one = &workers[number % count];
    pthread_mutex_lock(&one->lock);
    one->group++;
    pthread_mutex_unlock(&one->lock);
  }
  return given;
}

int main(int argc, char **argv) {
  (void)argv;
  pthread_t threads[8];
  count = argc;
  workers = malloc(count * sizeof(struct worker));
  for (long i = 0; i < 8; i++)
    pthread_create(&threads[i], NULL, serve, (void *)i);
  for (int i = 0; i < 8; i++)
    pthread_join(threads[i], NULL);
}
