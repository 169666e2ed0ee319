// Elements a line apart, reached by a product.
// no-finding
#include <pthread.h>
#define THREADS 8
static volatile long count[THREADS * 8];
static void *work(void *a) {
  long self = (long)a;
  for (long i = 0; i < 1000000; i++)
    count[self * 8]++;
  return 0;
}
int main(void) {
  pthread_t t[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&t[i], 0, work, (void *)i);
  for (long i = 0; i < THREADS; i++)
    pthread_join(t[i], 0);
  return 0;
}
