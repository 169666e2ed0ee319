// Readers mark that they are inside of a section, each in its own word; an updater looks at all of them now and then.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#ifdef PAD
#define ALIGNED _Alignas(128)
#else
#define ALIGNED
#endif
struct reader {
  ALIGNED _Atomic unsigned long nesting;
};
static struct {
  _Alignas(128) struct reader readers[2];
} gp;
static int table[2][64];
static _Alignas(128) atomic_int *current;
static atomic_int done;
static void *look_up(void *arg) {
  struct reader *self = arg;
  unsigned long found = 0;
  for (long i = 0; i < 400000000; i++) {
    atomic_store_explicit(&self->nesting, i * 2 + 1, memory_order_release);
    found += table[i & 1][(i * 7) & 63];
    atomic_store_explicit(&self->nesting, i * 2 + 2, memory_order_release);
  }
  return (void *)found;
}
static void *update(void *arg) {
  (void)arg;
  unsigned long seen = 0;
  while (!atomic_load(&done)) {
    for (int i = 0; i < 2; i++)
      seen += atomic_load(&gp.readers[i].nesting) & 1;
    usleep(5000);
  }
  return (void *)seen;
}
int main(void) {
  pthread_t one, two, updater;
  (void)current;
  pthread_create(&updater, NULL, update, NULL);
  pthread_create(&one, NULL, look_up, &gp.readers[0]);
  pthread_create(&two, NULL, look_up, &gp.readers[1]);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  atomic_store(&done, 1);
  pthread_join(updater, NULL);
  printf("%lu\n", atomic_load(&gp.readers[0].nesting));
  return 0;
}
