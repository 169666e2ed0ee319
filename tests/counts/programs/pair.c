// Two threads that live at the same time: one writes a counter, the other
// reads a limit beside it.  With an argument the writer reads the limit, too,
// and the other thread does nothing.
#include <pthread.h>
#include <unistd.h>

#ifdef PAD
#define LINE __attribute__((aligned(64)))
#else
#define LINE
#endif

enum { WRITES = 30000, READS = 20000 };

struct {
  volatile long counter;
  volatile long limit LINE;
} shared __attribute__((aligned(64))) = {0, 1};
volatile long total __attribute__((aligned(64)));
struct {
  volatile long seldom;
  volatile long beside;
} rare __attribute__((aligned(64)));
static int alone;

static pthread_barrier_t start;

static __attribute__((noinline)) void read_limit(void) {
  for (int i = 0; i < READS; i++)
    total = shared.limit + rare.beside;
}

static void *writer(void *unused) {
  pthread_barrier_wait(&start);
  for (int i = 0; i < WRITES; i++)
    shared.counter = i;
  rare.seldom = 1;
  if (alone)
    read_limit();
  pthread_barrier_wait(&start);
  return unused;
}

static void *reader(void *unused) {
  pthread_barrier_wait(&start);
  if (!alone)
    read_limit();
  pthread_barrier_wait(&start);
  return unused;
}

int main(int argc, char **argv) {
  pthread_t threads[2];
  (void)argv;
  alone = argc > 1;
  pthread_barrier_init(&start, NULL, 2);
  pthread_create(&threads[0], NULL, writer, NULL);
  pthread_create(&threads[1], NULL, reader, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
