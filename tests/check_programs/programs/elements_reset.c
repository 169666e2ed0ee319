// Elements with a lock each.  What a loop resets in all of them, under no lock, takes each line once, its owner's too.
// expect: thread-elements-meet low worker
#include <pthread.h>
#include <stdlib.h>

struct worker {
  pthread_mutex_t lock;
  long task;
  long filler[7];
  int group;
};
static struct worker *workers;
static unsigned count;

static void forget_groups(void) {
  struct worker *one;
  unsigned i;
  for (i = 0; i < count; i++) {
    one = workers + i;
    one->group = 0;
  }
}

static void *serve(void *given) {
  for (unsigned long number = (unsigned long)given;; number = number * 13 + 7) {
    struct worker *one = &workers[number % count];
    pthread_mutex_lock(&one->lock);
    one->task++;
    pthread_mutex_unlock(&one->lock);
    forget_groups();
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
