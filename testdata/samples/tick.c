// One thread says what time it is, the other one wants to know: they are meant
// to share it.
#include <pthread.h>
#include <stdbool.h>
static _Alignas(64) volatile unsigned long now;
static _Alignas(64) volatile bool over;
static void *tell(void *none) {
  for (unsigned long t = 0; t < 60000000; t++)
    now = t;
  over = true;
  return none;
}
int main(void) {
  unsigned long seen = 0;
  pthread_t clock;
  pthread_create(&clock, 0, tell, 0);
  while (!over)
    seen += now;
  pthread_join(clock, 0);
  return seen == 1;
}
