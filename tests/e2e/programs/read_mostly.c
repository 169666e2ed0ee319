// A flag that every request reads beside a counter that every request writes.
// expect: written-beside-read-mostly high conf.requests conf.verbose
#include <pthread.h>
#include <stdio.h>
struct {
  int verbose;
  unsigned long requests;
} conf;
static void handle(long i) {
  if (conf.verbose)
    printf("%ld\n", i);
}
static void *reader(void *arg) {
  for (long i = 0; i < (long)arg; i++) {
    handle(i);
    __asm__ volatile("" ::: "memory");
  }
  return 0;
}
static void *counter(void *arg) {
  for (long i = 0; i < (long)arg; i++)
    __atomic_fetch_add(&conf.requests, 1, __ATOMIC_RELAXED);
  return 0;
}
int main(int argc, char **argv) {
  pthread_t t[3];
  conf.verbose = argc > 3;
  for (int i = 0; i < 2; i++)
    pthread_create(&t[i], 0, reader, (void *)(long)(argc * 1000));
  pthread_create(&t[2], 0, counter, (void *)(long)(argc * 1000));
  for (int i = 0; i < 3; i++)
    pthread_join(t[i], 0);
  return (int)conf.requests;
}
