// Taking a lock for reading writes it: what all readers look at beside it is disturbed each time.
// expect: hot-lock-shares-line high cache.lock cache.generation
#include <pthread.h>
static struct cache {
  pthread_rwlock_t lock;
  unsigned generation;
} cache __attribute__((aligned(64))) = {PTHREAD_RWLOCK_INITIALIZER, 1};
static void *lookup(void *arg) {
  for (int i = 0; i < 1000000; i++) {
    pthread_rwlock_rdlock(&cache.lock);
    pthread_rwlock_unlock(&cache.lock);
  }
  return 0;
}
static void *poll(void *arg) {
  long changes = 0;
  unsigned last = 0;
  for (int i = 0; i < 1000000; i++)
    if (__atomic_load_n(&cache.generation, __ATOMIC_RELAXED) != last)
      changes++;
  return (void *)changes;
}
int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 3; i++)
    pthread_create(&t[i], 0, lookup, 0);
  pthread_create(&t[3], 0, poll, 0);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], 0);
  return 0;
}
