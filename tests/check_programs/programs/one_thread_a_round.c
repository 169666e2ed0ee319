// Each round of a loop waits for the thread that it started, itself or in the function that starts it: the elements of
// these threads are changed one after the other.  Where a round starts several before it waits, or waits only now and
// then, they are changed at once.
// expect: packed-thread-slots high together
// expect: packed-thread-slots high overlapping
#include <pthread.h>

#define THREADS 4
struct step { volatile unsigned long done, failed; };
static struct step in_turn[THREADS], by_function[THREADS], together[THREADS], overlapping[THREADS];

static void count(struct step *step, unsigned long number) {
  if (number & 3) step->done++;
  else step->failed++;
}
static void *turn_main(void *argument) {
  for (unsigned long n = 0; n < 1000000; n++) count(&in_turn[(long)argument], n);
  return 0;
}
static void *function_main(void *argument) {
  for (unsigned long n = 0; n < 1000000; n++) count(&by_function[(long)argument], n);
  return 0;
}
static void *group_main(void *argument) {
  for (unsigned long n = 0; n < 1000000; n++) count(&together[(long)argument], n);
  return 0;
}
static void *late_main(void *argument) {
  for (unsigned long n = 0; n < 1000000; n++) count(&overlapping[(long)argument], n);
  return 0;
}

static int run(long number) {
  pthread_t thread;
  if (pthread_create(&thread, 0, function_main, (void *)number)) return -1;
  return pthread_join(thread, 0);
}

int main(void) {
  pthread_t thread, threads[THREADS];
  for (long i = 0; i < THREADS; i++) {
    if (pthread_create(&thread, 0, turn_main, (void *)i)) return 1;
    pthread_join(thread, 0);
  }
  for (long i = 0; i < THREADS; i++)
    if (run(i)) return 1;
  for (int round = 0; round < 10; round++) {
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, group_main, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
  }
  for (long i = 0; i < 1000; i++) {
    pthread_create(&threads[i % THREADS], 0, late_main, (void *)(i % THREADS));
    if (i % THREADS == THREADS - 1)
      for (int k = 0; k < THREADS; k++) pthread_join(threads[k], 0);
  }
}
