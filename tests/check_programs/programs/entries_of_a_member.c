// A worker holds what its thread runs.
// expect: independent-writers high beats.drum beats.bell
#include <pthread.h>
#include <stdatomic.h>

struct worker {
  pthread_t thread;
  void *(*play)(void *);
};
static struct { _Alignas(64) atomic_long drum; atomic_long bell; char rest[48]; } beats;
static struct worker band[4];

static void *drum(void *p) {
  for (long i = 0; i < 10000000; i++)
    atomic_fetch_add_explicit(&beats.drum, 1, memory_order_relaxed);
  return p;
}
static void *ring(void *p) {
  for (long i = 0; i < 10000000; i++)
    atomic_fetch_add_explicit(&beats.bell, 1, memory_order_relaxed);
  return p;
}

static void hire(void) {
  band[0].play = band[1].play = drum;
  band[2].play = band[3].play = ring;
}

int main(void) {
  hire();
  for (int i = 0; i < 4; i++)
    pthread_create(&band[i].thread, 0, band[i].play, &band[i]);
  for (int i = 0; i < 4; i++)
    pthread_join(band[i].thread, 0);
}
