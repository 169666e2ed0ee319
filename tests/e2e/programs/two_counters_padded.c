// The same with each counter in a type rounded up to the line: nothing to say.
// no-finding
#include <pthread.h>
struct padded {
  volatile unsigned long value;
} __attribute__((aligned(128)));
struct padded produced;
struct padded consumed;
static void *producer(void *n) {
  for (long i = 0; i < (long)n; i++)
    produced.value++;
  return 0;
}
static void *consumer(void *n) {
  for (long i = 0; i < (long)n; i++)
    consumed.value++;
  return 0;
}
int main(int argc, char **argv) {
  pthread_t a, b;
  pthread_create(&a, 0, producer, (void *)(long)(argc * 1000));
  pthread_create(&b, 0, consumer, (void *)(long)(argc * 1000));
  pthread_join(a, 0);
  pthread_join(b, 0);
  return produced.value == consumed.value;
}
