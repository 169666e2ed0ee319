// What a thread prepares once before it goes on to its loop: a loop as well,
// and over soon.
// no-finding
#include <pthread.h>
static volatile long prepared, pinged;
static struct {
  volatile int begun;
  char rest[60];
} once __attribute__((aligned(64)));
static struct {
  volatile long served;
  char rest[56];
} own __attribute__((aligned(64)));

static void *serve(void *arg) {
  if (!once.begun) {
    for (long i = 0; i < 100; i++)
      prepared++;
    once.begun = 1;
  }
  for (long i = 0; i < 100000000; i++)
    own.served++;
  return arg;
}
static void *ping(void *arg) {
  for (long i = 0; i < 100000000; i++)
    pinged++;
  return arg;
}
int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, serve, 0);
  pthread_create(&threads[1], 0, ping, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return own.served + pinged + prepared == 0;
}
