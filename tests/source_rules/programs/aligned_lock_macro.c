// The same through a macro and C11's keyword, and with an atomic.
// expect: aligned-tail-free note hits
// expect: aligned-tail-free note LOCK_open
#include <pthread.h>
#include <stdatomic.h>

#define CACHE_ALIGNED _Alignas(64)

CACHE_ALIGNED pthread_mutex_t LOCK_open = PTHREAD_MUTEX_INITIALIZER;
CACHE_ALIGNED static atomic_long hits;

void open_table(void) {
  pthread_mutex_lock(&LOCK_open);
  atomic_fetch_add(&hits, 1);
  pthread_mutex_unlock(&LOCK_open);
}
