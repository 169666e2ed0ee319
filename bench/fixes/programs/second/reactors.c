// Reactors of an event framework: one for each core in one allocation, found by the number of the running core.
// about: reactor
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CORES 128
struct ring;
extern unsigned ring_dequeue(struct ring *, void **, unsigned);
extern int thread_poll(void *thread, uint64_t now);
extern uint64_t get_ticks(void);
extern int launch_on_core(uint32_t core, int (*fn)(void *), void *arg);

struct reactor {
  void *threads[4];
  uint32_t thread_count;
  uint32_t lcore;
  struct ring *events;
  uint64_t busy_tsc, idle_tsc, tsc_last;
  uint32_t flags;
#ifdef EDIT
  uint32_t reserved;
#endif
}
#ifdef FIXED
__attribute__((aligned(64)))
#endif
;

static struct reactor *g_reactors;
static volatile int g_running = 1;
static __thread uint32_t current_core;

static struct reactor *reactor_get(uint32_t core) { return &g_reactors[core]; }

static int reactor_run(void *arg) {
  struct reactor *reactor = arg;
  void *events[8];

  current_core = reactor->lcore;
  reactor->tsc_last = get_ticks();
  while (g_running) {
    unsigned n = ring_dequeue(reactor->events, events, 8);
    int busy = n > 0;
    for (uint32_t i = 0; i < reactor->thread_count; i++)
      busy |= thread_poll(reactor->threads[i], reactor->tsc_last) > 0;
    uint64_t now = get_ticks();
    if (busy)
      reactor->busy_tsc += now - reactor->tsc_last;
    else
      reactor->idle_tsc += now - reactor->tsc_last;
    reactor->tsc_last = now;
  }
  return 0;
}

int reactors_init(void) {
  if (posix_memalign((void **)&g_reactors, 64, MAX_CORES * sizeof(struct reactor)))
    return -1;
  memset(g_reactors, 0, MAX_CORES * sizeof(struct reactor));
  for (uint32_t i = 0; i < MAX_CORES; i++)
    g_reactors[i].lcore = i;
  return 0;
}

int reactors_start(uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (launch_on_core(i, reactor_run, reactor_get(i)))
      return -1;
  return 0;
}

uint64_t reactor_busy(void) { return reactor_get(current_core)->busy_tsc; }
