// Two members of one object, each written by its own thread.
// expect: independent-writers high stats.produced stats.consumed
#include <pthread.h>
struct {
  volatile unsigned long produced, consumed;
} stats;
static void *producer(void *n) {
  for (long i = 0; i < (long)n; i++)
    stats.produced++;
  return 0;
}
static void *consumer(void *n) {
  for (long i = 0; i < (long)n; i++)
    stats.consumed++;
  return 0;
}
int main(int argc, char **argv) {
  pthread_t a, b;
  pthread_create(&a, 0, producer, (void *)(long)(argc * 1000));
  pthread_create(&b, 0, consumer, (void *)(long)(argc * 1000));
  pthread_join(a, 0);
  pthread_join(b, 0);
  return stats.produced == stats.consumed;
}
