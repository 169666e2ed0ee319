// ARGS: -fopenmp
// Partial sums of an OpenMP region, one element a thread.
// expect: packed-thread-slots high partial
#include <omp.h>
static double partial[16];
double sum(const double *x, long n) {
#pragma omp parallel
  {
    int self = omp_get_thread_num();
#pragma omp for
    for (long i = 0; i < n; i++)
      partial[self] += x[i];
  }
  double all = 0;
  for (int i = 0; i < 16; i++)
    all += partial[i];
  return all;
}
static double data[1000];
int main(void) { return sum(data, 1000) != 0; }
