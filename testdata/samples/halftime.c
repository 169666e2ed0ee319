// Two halves of a game: one thread counts the goals of the first, another those of the second.
#include <pthread.h>
#include <stdio.h>
static struct {
  long home;
#ifdef PAD
  char room[120];
#endif
  long away;
} goals __attribute__((aligned(128)));
static void play(long *mine, unsigned long seed) {
  for (long i = 0; i < 300000000; i++) {
    seed = seed * 6364136223846793005ul + 1;
    *(volatile long *)mine += seed >> 63;
  }
}
static void *home(void *arg) {
  play(&goals.home, 1);
  return arg;
}
static void *away(void *arg) {
  play(&goals.away, 2);
  return arg;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, home, NULL);
  pthread_join(one, NULL);
  pthread_create(&two, NULL, away, NULL);
  pthread_join(two, NULL);
  printf("%ld %ld\n", goals.home, goals.away);
  return 0;
}
