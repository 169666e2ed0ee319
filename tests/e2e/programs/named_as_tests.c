// Threads that run what is named after tests: what a program starts threads
// for is what it is for.
// expect: independent-writers high counts.first counts.second
#include <pthread.h>
static struct {
  volatile long first;
  volatile long second;
} counts __attribute__((aligned(64)));

static void *benchmark(void *arg) {
  for (long i = 0; i < 100000000; i++)
    counts.first++;
  return arg;
}
static void *increment_test(void *arg) {
  for (long i = 0; i < 100000000; i++)
    counts.second++;
  return arg;
}
int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, benchmark, 0);
  pthread_create(&threads[1], 0, increment_test, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return counts.first + counts.second == 0;
}
