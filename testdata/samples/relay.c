// Two threads use neighbours one after the other: the first has ended when the
// second begins.
#include <pthread.h>
_Alignas(64) static volatile long lap[2];
static void *run(void *p) {
  volatile long *mine = p;
  for (long i = 0; i < 150000000; i++)
    *mine += i;
  return 0;
}
int main(void) {
  pthread_t one;
  for (int me = 0; me < 2; me++)
    pthread_create(&one, 0, run, (void *)&lap[me]), pthread_join(one, 0);
}
