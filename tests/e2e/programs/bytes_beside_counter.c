// Bytes at threads' own numbers, which any other variable is whole elements away from: two variables are no array.
// expect: independent-writers high state.busy state.served
// expect: packed-thread-slots low state.busy
// expect-of-source: independent-writers high state.busy state.served
// expect-of-source: packed-thread-slots medium state.busy
#include <pthread.h>
#include <stdint.h>
static struct {
  volatile char busy[8];
  volatile long served;
} state __attribute__((aligned(64)));

static void *work(void *arg) {
  unsigned id = (unsigned)(uintptr_t)arg & 7;
  for (long i = 0; i < 100000000; i++)
    state.busy[id] = (char)i;
  return 0;
}
static void *serve(void *arg) {
  for (long i = 0; i < 100000000; i++)
    state.served++;
  return arg;
}
int main(void) {
  pthread_t threads[3];
  for (uintptr_t i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  pthread_create(&threads[2], 0, serve, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  return state.served + state.busy[0] == 0;
}
