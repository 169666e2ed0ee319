// Numbers of threads in an array of a record: each gets a type of whole lines.
#include <pthread.h>
#define THREADS 8
struct pool {
  int threads;
  volatile unsigned long done[THREADS]; /* by thread */
};
static struct pool pool = {.threads = THREADS};
static void *worker(void *argument) {
  long me = (long)argument;
  for (long i = 0; i < 1000000000; i++)
    pool.done[me]++;
  return 0;
}
static unsigned long sum(const struct pool *of) {
  unsigned long result = 0;
  for (int i = 0; i < of->threads; i++)
    result += of->done[i];
  return result;
}
int main(void) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], 0, worker, (void *)i);
  for (long i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  return sum(&pool) == 0;
}
