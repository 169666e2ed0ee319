// A clock that one thread advances every round, read by all, beside the lock of a list that they take.
// about: now clock_line
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct event {
  struct event *next;
  long due;
};

#ifdef FIXED
static struct {
  _Atomic long value;
} __attribute__((aligned(64))) clock_line;
#define now clock_line.value
static struct {
  pthread_spinlock_t lock;
  struct event *first;
} __attribute__((aligned(64))) list;
#define lock list.lock
#define first list.first
#else
static _Atomic long now;
static pthread_spinlock_t lock;
static struct event *first;
#endif
#ifdef EDIT
static int started;
int is_started(void) { return started; }
#endif
extern long read_clock(void);

static void *tick(void *arg) {
  for (;;)
    atomic_store_explicit(&now, read_clock(), memory_order_relaxed);
  return arg;
}

static void *schedule(void *arg) {
  struct event *event = arg;
  for (;;) {
    event->due = atomic_load_explicit(&now, memory_order_relaxed) + 10;
    pthread_spin_lock(&lock);
    event->next = first;
    first = event;
    pthread_spin_unlock(&lock);
  }
}

int start(pthread_t *threads, struct event *events, int count) {
  if (pthread_create(&threads[0], NULL, tick, NULL))
    return -1;
  for (int i = 1; i < count; i++)
    if (pthread_create(&threads[i], NULL, schedule, &events[i]))
      return -1;
  return 0;
}
