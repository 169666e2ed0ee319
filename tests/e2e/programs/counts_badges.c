// What only begins like a word for what went wrong, beside what another thread counts each round.
// expect: independent-writers high
#include <pthread.h>
static struct {
  volatile long n_badges;
  volatile long served;
} work __attribute__((aligned(64)));

static void *parse(void *arg) {
  for (long i = 0; i < 100000000; i++) {
    unsigned next = (unsigned)i * 69069u + 1;
    if (next & 64)
      work.n_badges++;
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
  return work.served + work.n_badges == 0;
}
