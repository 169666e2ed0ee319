// A thread hands its number on, to functions that find its element; that another one sets all in turn changes nothing.
// expect: packed-thread-slots medium pending
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t turn[16];
static _Atomic unsigned long pending[16];
static unsigned long done[16][8];

static unsigned long left(int i) { return atomic_load(&pending[i]); }
static void set_left(int i, unsigned long count) { atomic_store(&pending[i], count); }

static void *work(void *number) {
  long id = (unsigned long)number;
  for (;;) {
    for (int i = 0; i < 1000 && !left(id); i++) {}
    if (!left(id)) {
      pthread_mutex_lock(&turn[id]);
      pthread_mutex_unlock(&turn[id]);
      continue;
    }
    for (unsigned long n = left(id); n; n--) done[id][0] += n;
    set_left(id, 0);
  }
}

int main(void) {
  for (long i = 0; i < 16; i++) {
    pthread_t thread;
    pthread_mutex_init(&turn[i], 0);
    pthread_create(&thread, 0, work, (void *)i);
  }
  for (;;) {
    for (int i = 0; i < 16; i++) set_left(i, 100);
    for (int i = 0; i < 16; i++)
      while (left(i)) {}
  }
}
