// Plain numbers behind a pointer of a record, at the number of the thread: a constant says how many there are.
// expect: packed-thread-slots high job.done[]
#include <pthread.h>
#include <stdlib.h>
struct job {
  unsigned long *done;
  unsigned long *table;
};
static struct job job;
static void *work(void *arg) {
  long id = (long)arg;
  for (int i = 0; i < 1000000; i++) {
    job.done[id]++;
    job.table[i & 1023] = 1;
  }
  return 0;
}
int main(void) {
  pthread_t t[8];
  job.done = calloc(8, sizeof *job.done);
  job.table = calloc(1024, sizeof *job.table);
  for (long i = 0; i < 8; i++)
    pthread_create(&t[i], 0, work, (void *)i);
  for (int i = 0; i < 8; i++)
    pthread_join(t[i], 0);
}
