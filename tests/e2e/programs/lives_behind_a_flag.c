// Only the first thread of a kind stays: the flag says who, not how often.
// expect: independent-writers high work.served work.pinged
#include <pthread.h>
static struct {
  volatile long served;
  volatile long pinged;
} work __attribute__((aligned(64)));
static volatile int begun;

static void *serve(void *arg) {
  if (!begun) {
    begun = 1;
    for (long i = 0; i < 100000000; i++)
      work.served++;
  }
  return arg;
}
static void *ping(void *arg) {
  for (long i = 0; i < 100000000; i++)
    work.pinged++;
  return arg;
}
int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, serve, 0);
  pthread_create(&threads[1], 0, ping, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return work.served + work.pinged == 0;
}
