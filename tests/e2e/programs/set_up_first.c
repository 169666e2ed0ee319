// What main fills before it starts the threads is not written while they run, and they only read it.
// no-finding
#include <pthread.h>
static unsigned table[8];
static unsigned limit;
static void *worker(void *arg) {
  unsigned long sum = 0;
  for (unsigned i = 0; i < 100000; i++)
    sum += table[i % 8] < limit;
  return (void *)sum;
}
int main(int argc, char **argv) {
  pthread_t t[2];
  for (int i = 0; i < 8; i++)
    table[i] = argc * i;
  for (int i = 0; i < argc; i++)
    limit += i;
  for (int i = 0; i < 2; i++)
    pthread_create(&t[i], 0, worker, 0);
  void *sum = 0;
  for (int i = 0; i < 2; i++)
    pthread_join(t[i], &sum);
  for (int i = 0; i < 8; i++)
    table[i] = 0;
  return (int)(long)sum;
}
