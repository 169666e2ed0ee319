// A switch that is aligned to a line of its own and only read, with a counter of another thread in its tail.
// ARGS: -fno-toplevel-reorder
// expect: aligned-without-padding high enabled served
#include <pthread.h>
#include <stdatomic.h>
_Alignas(64) volatile long enabled = 1;
atomic_long served = 1;
static void *serve(void *arg) {
  for (long n = (long)arg; n; n--)
    atomic_fetch_add(&served, 1);
  return 0;
}
static void *look(void *arg) {
  long seen = 0;
  for (long n = (long)arg; n; n--)
    seen += enabled;
  return (void *)seen;
}
int main(int argc, char **argv) {
  pthread_t a, b;
  (void)argv;
  pthread_create(&a, 0, serve, (void *)(argc * 1000L));
  pthread_create(&b, 0, look, (void *)(argc * 1000L));
  pthread_join(a, 0);
  return pthread_join(b, 0);
}
