// Two threads and a barrier: in one act the first thread works on its number,
// in the next the second on its own.  They never meet on the line.
#include <pthread.h>
static struct {
  double first, second;
} part __attribute__((aligned(64)));
static pthread_barrier_t curtain;
static void play(volatile double *mine) {
  for (int i = 0; i < 8000000; ++i)
    *mine = *mine * 0.5 + i;
}
static void *actor(void *who) {
  int me = who != 0;
  for (int act = 0; act < 16; ++act) {
    if (act % 2 == me)
      play(me ? &part.second : &part.first);
    pthread_barrier_wait(&curtain);
  }
  return 0;
}
int main(void) {
  pthread_t one, two;
  pthread_barrier_init(&curtain, 0, 2);
  pthread_create(&one, 0, actor, 0);
  pthread_create(&two, 0, actor, &part);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
