// The setting is read in a loop of its threads alone, which limits that pair to low: it must not hide the worse slots.
// expect: packed-thread-slots medium pending
// expect: written-beside-read-mostly low pending lists
#include <pthread.h>
#include <stdatomic.h>
static _Atomic unsigned long pending[16];
int mode;
static long *lists[16];

static unsigned long left(int i) { return atomic_load(&pending[i]); }
static void set_left(int i, unsigned long count) { atomic_store(&pending[i], count); }

void read_one(long *at) {
  for (long i = 0; i < at[1]; i++)
    if (mode == 1) at[i + 3] = at[2];
}

void use(long *at) {
  if (mode == 2) at[2]++;
  read_one(at);
}

static void *work(void *number) {
  long id = (unsigned long)number;
  for (;;) {
    for (int i = 0; i < 1000 && !left(id); i++) {}
    if (!left(id)) continue;
    for (long *at = lists[id]; at; at = *(long **)at) use(at);
    set_left(id, 0);
  }
}

void hand_out(int what, unsigned long count) {
  mode = what;
  for (int i = 0; i < 16; i++) set_left(i, count);
}

int reading(long *at) {
  if (mode) use(at);
  return mode;
}

int main(void) {
  for (long i = 0; i < 16; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, work, (void *)i);
  }
  return 0;
}
