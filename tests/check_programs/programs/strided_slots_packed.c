// The same with too small a factor: four threads to a line.
// expect: packed-thread-slots high count
#include <pthread.h>
#define THREADS 8
static volatile long count[THREADS * 2];
static void *work(void *a) {
  long self = (long)a;
  for (long i = 0; i < 1000000; i++)
    count[self * 2]++;
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
