// Near miss: each worker has an element of its own, and moves both ends of it.
// no-finding
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define LANES 4
struct lane {
  atomic_ulong in;
  atomic_ulong out;
  long slots[6];
} __attribute__((aligned(64)));
static struct lane lanes[LANES];
static long rounds;

static void *work(void *arg) {
  int at = (int)(intptr_t)arg;
  struct lane *lane = &lanes[at];
  for (long i = 0; i < rounds; i++) {
    atomic_fetch_add(&lane->in, 1);
    if (i & 1) atomic_fetch_add(&lane->out, 1);
  }
  return arg;
}

int main(int argc, char **argv) {
  pthread_t workers[LANES];
  (void)argv;
  rounds = argc * 1000000L;
  for (long i = 0; i < LANES; i++) pthread_create(&workers[i], NULL, work, (void *)i);
  for (int i = 0; i < LANES; i++) pthread_join(workers[i], NULL);
}
