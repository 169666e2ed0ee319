// ARGS: -fopenmp
// Sums of rounds that the threads of a region share out: each thread has one where there are as many as threads.
// expect: packed-thread-slots high by_constant
// expect: packed-thread-slots high by_maximum
// expect: packed-thread-slots high by_setting
// expect: packed-thread-slots high in_region
// expect: packed-thread-slots medium numbers[]
#include <omp.h>
#include <stdlib.h>
enum { THREADS = 8 };
static double by_constant[THREADS], by_maximum[64], by_setting[THREADS], in_region[64];
static double *numbers;
// Many rounds of a thread lie side by side, and threads are far from each other; so they may be where the number of
// rounds is another one, where chunks are of more than one, and where rounds go on in steps or from elsewhere.
static double by_many[64], by_other[64], by_chunks[THREADS], by_steps[64], from_one[THREADS + 1];
// What is set once in a round is set once.
static double once[THREADS];
static double data[1000] __attribute__((aligned(64)));

static void sum(long n, int any) {
  int most = omp_get_max_threads();
#pragma omp parallel for num_threads(THREADS)
  for (int t = 0; t < THREADS; t++) {
    double mine = 0;
    for (long i = 0; i < n; i++) {
      by_constant[t] += data[i];
      mine += data[i];
    }
    once[t] += mine;
  }
#pragma omp parallel for schedule(static, 1)
  for (int t = 0; t < most; t++)
    for (long i = 0; i < n; i++) {
      by_maximum[t] += data[i];
      numbers[t] += data[i];
    }
#pragma omp parallel
  {
#pragma omp for nowait
    for (int t = 0; t < omp_get_num_threads(); t++)
      for (long i = 0; i < n; i++)
        in_region[t] += data[i];
  }
#pragma omp parallel for
  for (int t = 0; t < 64; t++)
    for (long i = 0; i < n; i++)
      by_many[t] += data[i];
#pragma omp parallel for
  for (int t = 0; t < any; t++)
    for (long i = 0; i < n; i++)
      by_other[t] += data[i];
#pragma omp parallel for num_threads(THREADS) schedule(static, 4)
  for (int t = 0; t < THREADS; t++)
    for (long i = 0; i < n; i++)
      by_chunks[t] += data[i];
#pragma omp parallel for num_threads(THREADS)
  for (int t = 0; t < THREADS; t += 2)
    for (long i = 0; i < n; i++)
      by_steps[t] += data[i];
#pragma omp parallel for num_threads(THREADS)
  for (int t = 1; t < THREADS; t++)
    for (long i = 0; i < n; i++)
      from_one[t] += data[i];
}
static void sum_set(long n, int threads) {
  omp_set_num_threads(threads);
#pragma omp parallel for
  for (int t = 0; t < threads; ++t)
    for (long i = 0; i < n; i++)
      by_setting[t] += data[i];
}
int main(int argc, char **argv) {
  (void)argv;
  numbers = calloc((size_t)omp_get_max_threads(), sizeof *numbers);
  sum(1000, argc);
  sum_set(1000, argc);
  double all = 0;
  for (int i = 0; i < THREADS; i++)
    all += by_constant[i] + by_maximum[i] + by_setting[i] + in_region[i] + numbers[i] + by_many[i] + by_other[i] +
           by_chunks[i] + by_steps[i] + from_one[i] + once[i];
  return all != 0;
}
