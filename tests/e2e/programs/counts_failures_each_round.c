// What is named after failures, and is counted on every round: a name does not
// say how often code runs.
// expect: independent-writers high work.served work.dropped
#include <pthread.h>
static struct {
  volatile long dropped;
  volatile long served;
} work __attribute__((aligned(64)));

static void *drop(void *arg) {
  for (long i = 0; i < 100000000; i++)
    work.dropped++;
  return arg;
}
static void *serve(void *arg) {
  for (long i = 0; i < 100000000; i++)
    work.served++;
  return arg;
}
int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, drop, 0);
  pthread_create(&threads[1], 0, serve, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return work.served + work.dropped == 0;
}
