// expect: packed-thread-slots pad-element slots
#include <pthread.h>
#define THREADS 8
struct stats {
  char name[24];
  volatile long slots[THREADS]; // decl: slots
};
static struct stats stats;
static void *worker(void *argument) {
  long me = (long)argument;
  for (long i = 0; i < 1000000000; i++)
    stats.U_slots(me)++;
  return 0;
}
int main(int count, char **names) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], 0, worker, (void *)i);
  for (long i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  return stats.name[count] + (names == 0);
}
