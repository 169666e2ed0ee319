// The same where the loop calls what may wait for something to do.
// no-finding
#include <pthread.h>
#include <termios.h>
static struct {
  volatile long freed;
  volatile long served;
} counts __attribute__((aligned(64)));

static void *cleanup(void *arg) {
  for (long i = 0; i < 100000000; i++) {
    tcdrain(1);
    counts.freed++;
  }
  return arg;
}
static void *serve(void *arg) {
  for (long i = 0; i < 100000000; i++)
    counts.served++;
  return arg;
}
int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, cleanup, 0);
  pthread_create(&threads[1], 0, serve, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return counts.served + counts.freed == 0;
}
