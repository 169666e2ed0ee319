// Threads of a few thousand rounds each, started again and again: together they run for as long as the program does.
// expect: packed-thread-slots high sums
#include <pthread.h>

static unsigned long sums[4];
static volatile int stop;

static void *add(void *mine) {
  unsigned long *sum = mine;
  for (int i = 0; i < 5000; i++)
    *sum += (unsigned long)i * 7;
  return 0;
}

static void batch(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, add, &sums[i]);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
}

int main(void) {
  while (!stop)
    batch();
  return (int)sums[0];
}
