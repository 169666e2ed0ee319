// An atomic counter that a packed record puts over the end of a line.
// expect: split-access critical rec.refs
#include <pthread.h>
static struct __attribute__((packed, aligned(64))) {
  char tag[60];
  unsigned long refs;
} rec;
static void *worker(void *arg) {
  for (long i = 0; i < 100000; i++)
    __atomic_fetch_add((unsigned long *)(void *)&rec.refs, 1, __ATOMIC_RELAXED);
  return 0;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&t[i], 0, worker, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(t[i], 0);
  return (int)rec.refs;
}
