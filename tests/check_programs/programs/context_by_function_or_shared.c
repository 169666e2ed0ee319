// A function that returns the thread's own context on one way alone, and the one of all on the other.
// expect: independent-writers high common.puts common.gets
#include <pthread.h>
#include <stdlib.h>

struct context {
  unsigned long puts;
  unsigned long gets;
};
static struct context common;
static __thread struct context *mine;

static struct context *context(void) {
  struct context *found = mine;
  return found ? found : &common;
}

static void put(void) { context()->puts++; }
static void get(void) { context()->gets++; }

static void *putting(void *unused) {
  for (;;)
    put();
  return unused;
}

static void *getting(void *unused) {
  for (;;)
    get();
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, putting, NULL);
  pthread_create(&threads[1], NULL, getting, NULL);
  pthread_join(threads[0], NULL);
  return 0;
}
