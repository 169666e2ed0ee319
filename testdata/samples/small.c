// Two small allocations that lie side by side, one for each thread; PAD takes
// a line for each.
#include <pthread.h>
#include <stdlib.h>
struct counter {
  volatile int value;
};
static struct counter *new_counter(void) {
#ifdef PAD
  struct counter *c = aligned_alloc(64, 64);
#else
  struct counter *c = malloc(sizeof *c);
#endif
  c->value = 0;
  return c;
}
static void *increment(void *arg) {
  struct counter *c = arg;
  int i = 0;
  do
    c->value += i;
  while (++i < 280000000);
  return arg;
}
int main(void) {
  struct counter *c = new_counter(), *d = new_counter();
#ifndef PAD
  /* A block may end a line: then it is the next two that share one. */
  while (((unsigned long)c ^ (unsigned long)d) / 64 != 0)
    c = d, d = new_counter();
#endif
  pthread_t other;
  pthread_create(&other, NULL, increment, c);
  increment(d);
  pthread_join(other, NULL);
  return 0;
}
