// A record for each thread in a static array, found by its number; PAD makes
// a record a line.
#include <pthread.h>
#include <stdint.h>
struct member {
  long runs;
  long points;
#ifdef PAD
  char rest[48];
#endif
};
static struct member team[2] __attribute__((aligned(64)));
static void *play(void *arg) {
  int number = (int)(intptr_t)arg;
  for (long i = 0; i < 120000000; i++) {
    struct member *me = &team[number];
    me->runs++;
    if (i % 3 == 0)
      me->points += 2;
  }
  return NULL;
}
int main(void) {
  pthread_t threads[2];
  for (intptr_t n = 0; n < 2; n++)
    pthread_create(&threads[n], NULL, play, (void *)n);
  for (int n = 0; n < 2; n++)
    pthread_join(threads[n], NULL);
  return team[0].runs != team[1].runs;
}
