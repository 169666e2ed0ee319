// The same of what goes right.
// expect: independent-writers high work.served work.parsed_words
#include <pthread.h>
static struct {
  volatile long parsed_words;
  volatile long served;
} work __attribute__((aligned(64)));
static volatile unsigned seed = 1, other = 1;

static void *parse(void *arg) {
  for (long i = 0; i < 100000000; i++) {
    unsigned next = (unsigned)i * 69069u + 1;
    if (next & 64)
      work.parsed_words++;
  }
  return arg;
}
static void *serve(void *arg) {
  for (long i = 0; i < 100000000; i++)
    work.served++;
  return arg;
}
int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, parse, 0);
  pthread_create(&threads[1], 0, serve, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return work.served + work.parsed_words + seed + other == 0;
}
