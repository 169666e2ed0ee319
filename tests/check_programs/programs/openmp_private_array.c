// ARGS: -fopenmp
// A clause gives each thread of a region an array of its own.
// no-finding
#include <omp.h>
double sum(const double *x, long n) {
  double sums[8] = {0};
#pragma omp parallel num_threads(8) firstprivate(sums)
  {
    int self = omp_get_thread_num();
    for (long i = self; i < n; i += 8)
      sums[self] += x[i];
  }
  double all = 0;
  for (int i = 0; i < 8; i++)
    all += sums[i];
  return all;
}
static double data[1000];
int main(void) { return sum(data, 1000) != 0; }
