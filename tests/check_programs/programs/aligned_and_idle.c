// What is aligned and seldom used, used by one thread alone, or read by several and written once, has nothing to lose at
// its end: said of what several threads keep busy.
// expect: aligned-tail-free low total
// expect: aligned-tail-free low total_lock
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define APART __attribute__((aligned(64)))
static pthread_mutex_t reload_lock APART = PTHREAD_MUTEX_INITIALIZER;  // before threads start, and after they ended
static unsigned generation;
static struct { unsigned long ticks, idle; } clock_state APART;  // one thread's
static atomic_ulong heartbeats APART;                            // one thread's, although atomic
static struct { unsigned long updates, changed; } total APART;
static pthread_mutex_t total_lock APART = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stop APART;

static void reload(void) {
  pthread_mutex_lock(&reload_lock);
  generation++;
  pthread_mutex_unlock(&reload_lock);
}

static void *clock_main(void *arg) {
  while (!atomic_load(&stop)) {
    clock_state.ticks++;
    clock_state.idle += clock_state.ticks & 1;
    atomic_fetch_add(&heartbeats, 1);
  }
  return arg;
}

static void *worker_main(void *arg) {
  unsigned seed = (unsigned)(unsigned long)arg;
  while (!atomic_load(&stop)) {
    seed = seed * 1664525u + 1013904223u;
    pthread_mutex_lock(&total_lock);
    total.updates++;
    total.changed += seed >> 31;
    pthread_mutex_unlock(&total_lock);
  }
  return arg;
}

int main(void) {
  pthread_t ticking, workers[4];
  reload();
  pthread_create(&ticking, NULL, clock_main, NULL);
  for (long i = 0; i < 4; i++) pthread_create(&workers[i], NULL, worker_main, (void *)i);
  getchar();
  atomic_store(&stop, 1);
  for (int i = 0; i < 4; i++) pthread_join(workers[i], NULL);
  pthread_join(ticking, NULL);
  reload();
  return generation > 2;
}
