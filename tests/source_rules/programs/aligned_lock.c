// The lock starts a line and leaves 24 bytes of it to whatever the linker puts there.
// expect: aligned-tail-free note LOCK_open
#include <pthread.h>

static pthread_mutex_t LOCK_open __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
static int waiting;

void open_table(void) {
  pthread_mutex_lock(&LOCK_open);
  waiting++;
  pthread_mutex_unlock(&LOCK_open);
}
