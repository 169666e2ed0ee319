// Two threads that live at the same time: each writes a counter and reads a
// limit beside it in every round.
#include <pthread.h>

enum { ROUNDS = 20000 };

struct {
  volatile long counter;
  volatile long limit;
} shared __attribute__((aligned(64))) = {0, 1};
volatile long total __attribute__((aligned(64)));

static pthread_barrier_t start;

static __attribute__((noinline)) void use_both(void) {
  long sum = 0;
  for (int i = 0; i < ROUNDS; i++) {
    shared.counter = i;
    sum += shared.limit;
  }
  total = sum;
}

static void *user(void *unused) {
  pthread_barrier_wait(&start);
  use_both();
  pthread_barrier_wait(&start);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_barrier_init(&start, NULL, 2);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, user, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
