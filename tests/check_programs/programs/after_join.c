// What is written before the threads start or after they ended meets nobody.
// no-finding
#include <pthread.h>
#include <stdatomic.h>
static atomic_long done;
static long total, runs, best;
static void *work(void *arg) {
  for (long i = 0; i < 1000000; i++)
    atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], 0);
  for (int i = 0; i < 1000000; i++) {
    total += i;
    runs++;
    if (i > best)
      best = i;
  }
  return (int)(total + runs + best);
}
