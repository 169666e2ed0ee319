// Threads work in phases with a barrier between; in each, every thread adds up into its own place of an array.
#include <pthread.h>
#include <stdio.h>
#define CELLS 200000
#define PHASES 900
#ifdef PAD
#define STRIDE 16
#else
#define STRIDE 1
#endif
static double heat[2][CELLS];
static double change[2 * STRIDE] __attribute__((aligned(128)));
static pthread_barrier_t barrier;
static void relax(int me) {
  double *own = heat[me];
  change[me * STRIDE] = 0;
  for (int i = 1; i + 1 < CELLS; i++) {
    double next = (own[i - 1] + own[i + 1]) / 2;
    change[me * STRIDE] += next - own[i];
    own[i] = next;
  }
}
static void *worker(void *arg) {
  int me = (int)(long)arg;
  for (int i = 0; i < CELLS; i++)
    heat[me][i] = i % 97;
  for (int phase = 0; phase < PHASES; phase++) {
    relax(me);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}
int main(void) {
  pthread_t other;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&other, NULL, worker, (void *)1l);
  worker((void *)0l);
  pthread_join(other, NULL);
  printf("%f\n", change[0] + change[STRIDE]);
  return 0;
}
