// A ring on the heap, of which one thread counts up the head and another the
// tail, and the same with static counters, whose threads need an argument.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef ITEMS
#define ITEMS 20000
#endif

struct ring {
  atomic_ulong head, tail;
  unsigned long limit;
};

static struct ring *ring;
static struct {
  char before[64];
  atomic_ulong sent, received;
  char after[64];
} spare;

static pthread_barrier_t both; // are there, so that they have two numbers

static void *producer(void *unused) {
  pthread_barrier_wait(&both);
  for (int i = 0; i < ITEMS; ++i)
    atomic_fetch_add(&ring->head, 1);
  return unused;
}

static void *consumer(void *unused) {
  pthread_barrier_wait(&both);
  for (int i = 0; i < ITEMS; ++i)
    atomic_fetch_add(&ring->tail, 1);
  return unused;
}

static void *sender(void *unused) {
  for (int i = 0; i < ITEMS; ++i)
    atomic_fetch_add(&spare.sent, 1);
  return unused;
}

static void *receiver(void *unused) {
  for (int i = 0; i < ITEMS; ++i)
    atomic_fetch_add(&spare.received, 1);
  return unused;
}

int main(int argc, char **argv) {
  pthread_t threads[4];
  int started = 2;
  ring = aligned_alloc(64, 64);
  if (!ring)
    return 1;
  *ring = (struct ring){.limit = (unsigned long)argc};
  pthread_barrier_init(&both, NULL, 2);
  pthread_create(&threads[0], NULL, producer, NULL);
  pthread_create(&threads[1], NULL, consumer, NULL);
  if (argc > 1) {
    pthread_create(&threads[started++], NULL, sender, argv);
    pthread_create(&threads[started++], NULL, receiver, argv);
  }
  for (int i = 0; i < started; ++i)
    pthread_join(threads[i], NULL);
  printf("%lu %lu\n", (unsigned long)ring->head,
         (unsigned long)(ring->tail + ring->limit));
  printf("%lu %lu\n", (unsigned long)spare.sent, (unsigned long)spare.received);
  free(ring);
  return 0;
}
