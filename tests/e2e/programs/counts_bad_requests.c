// What went wrong is counted beside what another thread counts each round: "bad" before the word that it is about.
// The branch looks as likely as its other arm; programs are written for what goes right.
// no-finding
#include <pthread.h>
static struct {
  volatile long n_badcmds;
  volatile long served;
} work __attribute__((aligned(64)));

static void *parse(void *arg) {
  for (long i = 0; i < 100000000; i++) {
    unsigned next = (unsigned)i * 69069u + 1;
    if (next & 64)
      work.n_badcmds++;
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
  return work.served + work.n_badcmds == 0;
}
