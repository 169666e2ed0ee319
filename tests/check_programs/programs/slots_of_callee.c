// Statistics for each thread, counted in a function that the thread's loop calls with its number.
// expect: packed-thread-slots medium worker_stats
#include <pthread.h>
struct stats {
  unsigned long gets, misses;
};
static struct stats worker_stats[16];
static long find(long key) { return key % 7; }
__attribute__((noinline)) long get(int worker, long key) {
  worker_stats[worker].gets++;
  return find(key);
}
static void *work(void *number) {
  long sum = 0;
  for (long i = 0; i < 1000000; i++)
    sum += get((int)(long)number, i);
  return (void *)sum;
}
int main(void) {
  pthread_t threads[16];
  for (long i = 0; i < 16; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 16; i++)
    pthread_join(threads[i], 0);
}
