// Heat that spreads along a rod: each thread has one half, and the halves meet
// within a line, which is one of thousands.
#include <pthread.h>
enum { CELLS = 40006, STEPS = 12000 };
static double rod[2][CELLS];
static pthread_barrier_t step;
static void *spread(void *half) {
  const int from = half ? CELLS / 2 : 1, to = half ? CELLS - 1 : CELLS / 2;
  for (int s = 0; s < STEPS; s++) {
    const double *was = rod[s % 2];
    double *is = rod[(s + 1) % 2];
    for (int i = from; i < to; i++)
      is[i] = was[i] + 0.25 * (was[i - 1] - 2 * was[i] + was[i + 1]);
    pthread_barrier_wait(&step);
  }
  return 0;
}
int main(void) {
  pthread_t other;
  rod[0][CELLS / 2] = rod[1][CELLS / 2] = 1000;
  pthread_barrier_init(&step, 0, 2);
  pthread_create(&other, 0, spread, (void *)1);
  spread(0);
  pthread_join(other, 0);
  return rod[0][1] > 1000;
}
