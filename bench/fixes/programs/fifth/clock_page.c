// Time of a service under a sequence counter: read by all threads, beside a counter of the reads that had to try again.
// about: clock_page sequence nanoseconds retries reads page
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

struct clock_page {
  atomic_uint sequence;
  uint64_t nanoseconds;
  uint64_t cycles;
#ifdef FIXED
  _Alignas(64) atomic_ullong reads;
#else
  atomic_ullong reads;
#endif
};

#ifdef EDIT
static int source_id;
#endif
static _Alignas(64) struct clock_page page;
extern uint64_t cycle_counter(void);
extern void handle(uint64_t now);
extern int next_request(void);

static void *tick(void *unused) {
  struct timespec period = {0, 1000000}, now;
  for (;;) {
    nanosleep(&period, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_fetch_add_explicit(&page.sequence, 1, memory_order_acquire);
    page.nanoseconds = now.tv_sec * 1000000000ull + now.tv_nsec;
    page.cycles = cycle_counter();
    atomic_fetch_add_explicit(&page.sequence, 1, memory_order_release);
  }
  return unused;
}

static uint64_t coarse_time(void) {
  unsigned begin;
  uint64_t time;
  do {
    begin = atomic_load_explicit(&page.sequence, memory_order_acquire);
    time = page.nanoseconds + (cycle_counter() - page.cycles) / 3;
    atomic_thread_fence(memory_order_acquire);
  } while ((begin & 1) || begin != atomic_load_explicit(&page.sequence, memory_order_relaxed));
  atomic_fetch_add_explicit(&page.reads, 1, memory_order_relaxed);
  return time;
}

static void *worker(void *unused) {
  while (next_request() >= 0)
    handle(coarse_time());
  return unused;
}

int main(void) {
  pthread_t ticker, workers[8];
  pthread_create(&ticker, NULL, tick, NULL);
  for (int i = 0; i < 8; i++)
    pthread_create(&workers[i], NULL, worker, NULL);
  for (int i = 0; i < 8; i++)
    pthread_join(workers[i], NULL);
  return 0;
}
