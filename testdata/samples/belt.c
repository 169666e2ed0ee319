// A queue of one producer and one consumer: its two positions lie side by side, the slots apart.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#define SLOTS 4096
#define ITEMS 30000000
struct belt {
  _Atomic unsigned put;
#ifdef PAD
  char room[124];
#endif
  _Atomic unsigned taken;
  char behind[120];
  long slot[SLOTS];
};
static void *load(void *arg) {
  struct belt *belt = arg;
  unsigned limit = SLOTS;
  for (unsigned i = 0; i < ITEMS; i++) {
    while (i == limit)
      limit = atomic_load_explicit(&belt->taken, memory_order_acquire) + SLOTS;
    belt->slot[i % SLOTS] = i * 3l;
    atomic_store_explicit(&belt->put, i + 1, memory_order_release);
  }
  return NULL;
}
static void *unload(void *arg) {
  struct belt *belt = arg;
  long sum = 0;
  unsigned limit = 0;
  for (unsigned i = 0; i < ITEMS; i++) {
    while (i == limit)
      limit = atomic_load_explicit(&belt->put, memory_order_acquire);
    sum += belt->slot[i % SLOTS];
    atomic_store_explicit(&belt->taken, i + 1, memory_order_release);
  }
  return (void *)sum;
}
static struct belt *make_belt(void) { return aligned_alloc(128, sizeof(struct belt)); }
int main(void) {
  struct belt *belt = make_belt();
  atomic_init(&belt->put, 0);
  atomic_init(&belt->taken, 0);
  pthread_t one, two;
  void *sum;
  pthread_create(&one, NULL, load, belt);
  pthread_create(&two, NULL, unload, belt);
  pthread_join(one, NULL);
  pthread_join(two, &sum);
  printf("%ld\n", (long)sum);
  return 0;
}
