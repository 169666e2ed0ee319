// Errands on main's stack, each of which a thread runs; PAD gives one a line.
#include <pthread.h>
#ifdef PAD
#define ERRAND_ALIGN 64
#else
#define ERRAND_ALIGN 8
#endif
struct errand {
  _Alignas(ERRAND_ALIGN) pthread_t runner;
  long step;
  volatile long gone;
};
static void *run(void *what) {
  struct errand *errand = what;
  for (long i = 0; i < 200000000; i++)
    errand->gone += errand->step;
  return 0;
}
int main(void) {
  _Alignas(64) struct errand errands[2] = {{.step = 1}, {.step = 3}};
  for (int i = 0; i < 2; i++)
    pthread_create(&errands[i].runner, 0, run, &errands[i]);
  for (int i = 0; i < 2; i++)
    pthread_join(errands[i].runner, 0);
  return errands[0].gone * 3 != errands[1].gone;
}
