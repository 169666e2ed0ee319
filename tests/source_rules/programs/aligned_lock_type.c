// The alignment is the type's: its size is rounded up, the tail is its own.  So it is for objects that fill their lines,
// in a section of aligned objects, of one thread each, below a line, or never written.
// no-finding
#include <pthread.h>
#include <stdatomic.h>

struct line_lock {
  pthread_mutex_t value;
} __attribute__((aligned(64)));

static struct line_lock LOCK_open = {PTHREAD_MUTEX_INITIALIZER};
static struct {
  atomic_long hits;
  long rest[7];
} filled __attribute__((aligned(64)));
static atomic_long grouped __attribute__((aligned(64), section(".data..cacheline_aligned"))) = 1;
static _Thread_local atomic_long own __attribute__((aligned(64)));
static atomic_long vector __attribute__((aligned(16)));
static const long limit __attribute__((aligned(64))) = 100;
static float table[100] __attribute__((aligned(64)));

void open_table(int i) {
  pthread_mutex_lock(&LOCK_open.value);
  atomic_fetch_add(&filled.hits, limit);
  atomic_fetch_add(&grouped, 1);
  atomic_fetch_add(&own, 1);
  atomic_fetch_add(&vector, 1);
  table[i] = i;
  pthread_mutex_unlock(&LOCK_open.value);
}
