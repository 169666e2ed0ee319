// Workers read how they are set up; beside it a clock is written a hundred times a second, too seldom to matter.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
static struct {
  int batch;
  int depth;
#ifdef PAD
  char room[120];
#endif
  atomic_long now;
} rota __attribute__((aligned(128))) = {.batch = 3, .depth = 5};
static atomic_int done;
static void *tick(void *arg) {
  while (!atomic_load(&done)) {
    atomic_fetch_add(&rota.now, 10);
    usleep(10000);
  }
  return arg;
}
static void *work(void *arg) {
  unsigned long sum = 1;
  const volatile int *batch = &rota.batch, *depth = &rota.depth;
  for (long i = 0; i < 300000000; i++)
    sum = sum * 31 + *batch * *depth;
  return (void *)(sum + (unsigned long)arg);
}
int main(void) {
  pthread_t clock, other;
  pthread_create(&clock, NULL, tick, NULL);
  pthread_create(&other, NULL, work, NULL);
  work(NULL);
  pthread_join(other, NULL);
  atomic_store(&done, 1);
  pthread_join(clock, NULL);
  printf("%ld\n", atomic_load(&rota.now) > 0);
  return 0;
}
