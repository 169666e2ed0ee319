// Of a queue of a producer and a consumer that are started with the same number each moves one end and looks at both.
// expect: independent-writers medium lanes[0].in lanes[0].out
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define LANES 4
#define SLOTS 256
struct lane {
  atomic_ulong in;
  atomic_ulong out;
  long slots[SLOTS];
} __attribute__((aligned(64)));
static struct lane lanes[LANES];
static long rounds;

static void *produce(void *arg) {
  int at = (int)(intptr_t)arg;
  struct lane *lane = &lanes[at];
  unsigned long taken = 0;
  for (long i = 0; i < rounds; i++) {
    unsigned long in = atomic_load_explicit(&lane->in, memory_order_relaxed);
    while (in - taken >= SLOTS) taken = atomic_load_explicit(&lane->out, memory_order_acquire);
    lane->slots[in % SLOTS] = i;
    atomic_store_explicit(&lane->in, in + 1, memory_order_release);
  }
  return arg;
}

static void *consume(void *arg) {
  int at = (int)(intptr_t)arg;
  struct lane *lane = &lanes[at];
  unsigned long given = 0;
  long sum = 0;
  for (long i = 0; i < rounds; i++) {
    unsigned long out = atomic_load_explicit(&lane->out, memory_order_relaxed);
    while (given == out) given = atomic_load_explicit(&lane->in, memory_order_acquire);
    sum += lane->slots[out % SLOTS];
    atomic_store_explicit(&lane->out, out + 1, memory_order_release);
  }
  return (void *)(intptr_t)sum;
}

int main(int argc, char **argv) {
  pthread_t from[LANES], to[LANES];
  rounds = argc * 1000000L;
  for (long i = 0; i < LANES; i++) {
    pthread_create(&from[i], NULL, produce, (void *)i);
    pthread_create(&to[i], NULL, consume, (void *)i);
  }
  for (int i = 0; i < LANES; i++) pthread_join(from[i], NULL);
  for (int i = 0; i < LANES; i++) pthread_join(to[i], NULL);
  return puts(argv[0]) < 0;
}
