// What a loop does that goes from element to element is done once to each.
// no-finding
#include <pthread.h>
#include <stdlib.h>

struct worker {
  long task;
  pthread_mutex_t lock;
  long filler[5];
  int group;
};
static struct worker *workers;
static unsigned count;

void make(unsigned many) {
  count = many;
  workers = malloc(many * sizeof(struct worker));
}

void forget_groups(void) {
  struct worker *one;
  unsigned i;
  for (i = 0; i < count; i++) {
    one = workers + i;
    one->group = 0;
  }
}

long ask(unsigned number) {
  struct worker *one = &workers[number % count];
  long sum = 0;
  pthread_mutex_lock(&one->lock);
  for (int i = 0; i < 100; i++)
    sum += one->task;
  pthread_mutex_unlock(&one->lock);
  return sum;
}
