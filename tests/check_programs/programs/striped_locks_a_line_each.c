// The same with a line for each lock.
// no-finding
#include <pthread.h>

enum { STRIPES = 16, SLOTS = 4096 };
static struct {
  _Alignas(64) pthread_spinlock_t lock;
} stripes[STRIPES];
static unsigned long slots[SLOTS];

static pthread_spinlock_t *stripe_of(unsigned slot) {
  return &stripes[slot / (SLOTS / STRIPES)].lock;
}

static void *work(void *argument) {
  unsigned x = (unsigned)(unsigned long)argument;
  for (;;) {
    x = x * 1103515245 + 12345;
    unsigned slot = (x >> 8) % SLOTS;
    pthread_spinlock_t *lock = stripe_of(slot);
    pthread_spin_lock(lock);
    slots[slot] += x;
    pthread_spin_unlock(lock);
  }
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < STRIPES; i++)
    pthread_spin_init(&stripes[i].lock, PTHREAD_PROCESS_PRIVATE);
  for (long i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
}
