// A thread named after the end of something, whose loop calls nothing that can
// wait, and what it calls on every round: code says more than names.
// expect: independent-writers high counts.freed counts.served
#include <pthread.h>
static struct {
  volatile long freed;
  volatile long served;
} counts __attribute__((aligned(64)));

__attribute__((noinline)) static void dump_one(void) { counts.freed++; }
static void *cleanup(void *arg) {
  for (long i = 0; i < 100000000; i++)
    dump_one();
  return arg;
}
static void *serve(void *arg) {
  for (long i = 0; i < 100000000; i++)
    counts.served++;
  return arg;
}
int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, cleanup, 0);
  pthread_create(&threads[1], 0, serve, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return counts.served + counts.freed == 0;
}
