// Flags of two threads in one word: no line is narrower, and each writer takes the other's.
// expect: independent-writers high state.answers
#include <pthread.h>
static volatile struct {
  unsigned busy : 1;
  unsigned level : 7;
  unsigned long answers;
} state;
static void *work(void *arg) {
  for (long i = 0; i < 1000000; i++)
    state.busy = i & 1;
  return 0;
}
static void *check(void *arg) {
  for (long i = 0; i < 1000000; i++)
    state.answers++;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, check, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
