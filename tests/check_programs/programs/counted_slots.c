// Slots on the heap at numbers that threads take from counters, in arrays of constant and other lengths.
// expect: packed-thread-slots high locked.n
// expect: packed-thread-slots high behind.n
// expect: packed-thread-slots high within.n
// expect: packed-thread-slots high product.n
// expect: packed-thread-slots medium any.n
// expect: packed-thread-slots medium either.n
// expect: packed-thread-slots medium read.n
// expect: packed-thread-slots medium part.n
// expect: packed-thread-slots medium round.n
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define SLOT(name) static struct name { unsigned long n, bytes; } *name##s
enum { SLOTS = 16 };
// Taken under a lock, as the number that was there or the one behind it, within bounds, by an atomic addition.
SLOT(locked);
SLOT(behind);
SLOT(within);
SLOT(product);
// How many there are is not known: no constant says it, or two do.
SLOT(any);
SLOT(either);
// A number that is read may be the same for all, numbers that lie apart are of parts, and one that is taken each time is
// nobody's.
SLOT(read);
SLOT(part);
SLOT(round);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { int a, b, c, d, e, f; } next;
static int taken;
static void *run(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  int a = next.a++, b = ++next.b, c = next.c++ % SLOTS, d = next.d, e = next.e;
  next.e += 8;
  pthread_mutex_unlock(&lock);
  int t = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
  char buffer[64];
  while (read(0, buffer, sizeof buffer) > 0) {
    lockeds[a].n++;
    behinds[b].n++;
    withins[c].n++;
    products[t].n++;
    anys[a].n++;
    eithers[a].n++;
    reads[d].n++;
    parts[e].n++;
    int f = __atomic_fetch_add(&next.f, 1, __ATOMIC_RELAXED) % SLOTS;
    rounds[f].n++;
  }
  return 0;
}
int main(int argc, char **argv) {
  (void)argv;
  lockeds = calloc(SLOTS, sizeof *lockeds);
  behinds = calloc(SLOTS + 1, sizeof *behinds);
  withins = malloc(SLOTS * sizeof *withins);
  products = aligned_alloc(16, sizeof(struct product) * 2 * SLOTS);
  anys = calloc((size_t)argc, sizeof *anys);
  eithers = argc > 2 ? calloc(2, sizeof *eithers) : malloc(SLOTS * sizeof *eithers);
  reads = calloc(SLOTS, sizeof *reads);
  parts = calloc(SLOTS * 8, sizeof *parts);
  rounds = calloc(SLOTS, sizeof *rounds);
  pthread_t t[SLOTS];
  for (int i = 0; i < SLOTS; i++)
    pthread_create(&t[i], 0, run, 0);
  for (int i = 0; i < SLOTS; i++)
    pthread_join(t[i], 0);
}
