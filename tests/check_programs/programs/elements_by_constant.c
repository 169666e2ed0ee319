// An array of two counters: each thread has its own by a constant index.  The first byte of a long array that both
// read is not on the line of its end.
// expect: independent-writers high count[0] count[1]
#include <pthread.h>
static long count[2];
static char banner[200] __attribute__((aligned(64)));
static long behind;
static void *even(void *p) {
  for (;;) {
    __atomic_fetch_add(&count[0], 1, __ATOMIC_RELAXED);
    if (banner[0])
      return p;
  }
}
static void *odd(void *p) {
  for (;;) {
    __atomic_fetch_add(&count[1], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&behind, 1, __ATOMIC_RELAXED);
    if (banner[0])
      return p;
  }
}
int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, even, 0);
  pthread_create(&threads[1], 0, odd, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
}
