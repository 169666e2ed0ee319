// An array within an object that one thread alone has: what the pointer at its number, or one of its own, leads to.
#include <pthread.h>
#include <stdlib.h>
// expect: packed-thread-slots medium turns
#define WORKERS 4
typedef struct {
  unsigned id;
  unsigned long rounds;
} worker_t;
struct histogram {
  unsigned long bucket[32];
};
struct latency {
  unsigned long slot[16];
};
static worker_t workers[WORKERS] __attribute__((aligned(64)));
static struct histogram *histograms[WORKERS];
static __thread struct latency *mine;
// The number in a thread's record, which the function was given: an element of the thread's own.
static unsigned long turns[WORKERS] __attribute__((aligned(64)));
static void serve(worker_t *w, unsigned value) {
  struct histogram *own = histograms[w->id];
  own->bucket[value & 31]++;
  mine->slot[value & 15]++;
  turns[w->id]++;
}
static void *work(void *argument) {
  worker_t *w = argument;
  mine = aligned_alloc(64, sizeof *mine);
  for (unsigned value = 1;; value = value * 1664525u + 1013904223u)
    serve(w, value);
  return NULL;
}
int main(void) {
  pthread_t threads[WORKERS];
  for (unsigned i = 0; i < WORKERS; i++) {
    workers[i].id = i;
    histograms[i] = aligned_alloc(64, sizeof(struct histogram));
    pthread_create(&threads[i], NULL, work, &workers[i]);
  }
  for (unsigned i = 0; i < WORKERS; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
