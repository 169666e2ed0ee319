// Buckets that all threads take at random: no slots of theirs, still neighbours.
// expect: packed-thread-slots medium bucket
#include <pthread.h>
#include <stdatomic.h>
static atomic_long bucket[64];
static void *work(void *a) {
  unsigned long x = (unsigned long)a;
  for (int i = 0; i < 1000000; i++) {
    x = x * 6364136223846793005ul + 1;
    atomic_fetch_add(&bucket[x >> 58], 1);
  }
  return 0;
}
int main(void) {
  pthread_t t[4];
  for (long i = 0; i < 4; i++)
    pthread_create(&t[i], 0, work, (void *)i);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], 0);
  return 0;
}
