// Two threads, two counters, one line.
// expect: independent-writers high produced consumed
#include <pthread.h>
volatile unsigned long produced;
volatile unsigned long consumed;
static void *producer(void *n) {
  for (long i = 0; i < (long)n; i++)
    produced++;
  return 0;
}
static void *consumer(void *n) {
  for (long i = 0; i < (long)n; i++)
    consumed++;
  return 0;
}
int main(int argc, char **argv) {
  pthread_t a, b;
  pthread_create(&a, 0, producer, (void *)(long)(argc * 1000));
  pthread_create(&b, 0, consumer, (void *)(long)(argc * 1000));
  pthread_join(a, 0);
  pthread_join(b, 0);
  return produced == consumed;
}
