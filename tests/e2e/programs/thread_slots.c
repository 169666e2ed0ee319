// Each thread counts in its own element: eight elements to a line.
// expect: packed-thread-slots high hits
#include <pthread.h>
#define THREADS 8
static volatile unsigned long hits[THREADS];
static void *worker(void *arg) {
  long me = (long)arg;
  for (long i = 0; i < 100000; i++)
    hits[me]++;
  return 0;
}
int main(void) {
  pthread_t t[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&t[i], 0, worker, (void *)i);
  for (long i = 0; i < THREADS; i++)
    pthread_join(t[i], 0);
  return (int)hits[0];
}
