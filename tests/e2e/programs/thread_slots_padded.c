// Elements rounded up to the line.
// no-finding
#include <pthread.h>
#define THREADS 8
static struct slot {
  volatile unsigned long hits;
} __attribute__((aligned(64))) slot[THREADS];
static void *worker(void *arg) {
  long me = (long)arg;
  for (long i = 0; i < 100000; i++)
    slot[me].hits++;
  return 0;
}
int main(void) {
  pthread_t t[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&t[i], 0, worker, (void *)i);
  for (long i = 0; i < THREADS; i++)
    pthread_join(t[i], 0);
  return (int)slot[0].hits;
}
