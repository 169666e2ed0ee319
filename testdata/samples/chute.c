// A bounded queue whose ends sleep on futexes when it is full or empty.  Beside
// it each end counts the weight that it has worked through; PAD parts these.
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef PAD
#define OWN _Alignas(64)
#else
#define OWN
#endif
#define ROOM 64
static struct {
  _Alignas(64) atomic_uint put;
  _Alignas(64) atomic_uint taken;
  _Alignas(64) unsigned sacks[ROOM];
  struct {
    _Alignas(64) volatile unsigned long loaded;
    OWN volatile unsigned long unloaded;
  } weight;
} chute;
static const unsigned sacks = 1000000;
static void sleep_at(atomic_uint *word, unsigned value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, 0, 0, 0);
}
static void wake(atomic_uint *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}
static void *load(void *arg) {
  for (unsigned i = 0; i < sacks; i++) {
    for (unsigned shovel = 0; shovel < 400; shovel++)
      chute.weight.loaded += shovel & 3;
    unsigned seen;
    while (i - (seen = atomic_load(&chute.taken)) >= ROOM)
      sleep_at(&chute.taken, seen);
    chute.sacks[i % ROOM] = i;
    atomic_store(&chute.put, i + 1);
    if (i % (ROOM / 4) == 0 || i + 1 == sacks)
      wake(&chute.put);
  }
  return arg;
}
static void *unload(void *arg) {
  for (unsigned i = 0; i < sacks; i++) {
    unsigned seen;
    while ((seen = atomic_load(&chute.put)) == i)
      sleep_at(&chute.put, seen);
    unsigned sack = chute.sacks[i % ROOM];
    for (unsigned shovel = 0; shovel < 400; shovel++)
      chute.weight.unloaded += (sack + shovel) & 3;
    atomic_store(&chute.taken, i + 1);
    if (i % (ROOM / 4) == 0)
      wake(&chute.taken);
  }
  return arg;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, load, 0), pthread_create(&b, 0, unload, 0);
  pthread_join(a, 0), pthread_join(b, 0);
  printf("%lu %lu\n", chute.weight.loaded, chute.weight.unloaded);
}
