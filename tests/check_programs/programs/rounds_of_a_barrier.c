// Threads that pass a barrier in each round meet in every round, no more often than they wait for each other.
// expect: independent-writers medium sent received
#include <pthread.h>

static pthread_barrier_t round_end;
static unsigned long sent;
static unsigned long received;

extern int look(int);

static void *send(void *argument) {
  for (int i = 0; i < 1000000; i++) {
    sent += look(i);
    pthread_barrier_wait(&round_end);
  }
  return argument;
}

static void *receive(void *argument) {
  for (int i = 0; i < 1000000; i++) {
    pthread_barrier_wait(&round_end);
    received += look(i);
  }
  return argument;
}

int main(void) {
  pthread_t threads[2];
  pthread_barrier_init(&round_end, 0, 2);
  pthread_create(&threads[0], 0, send, 0);
  pthread_create(&threads[1], 0, receive, 0);
  pthread_join(threads[0], 0);
  return pthread_join(threads[1], 0);
}
