// ARGS: -fopenmp
// A local array that the threads of a region share: each adds up in its own element.
// expect: packed-thread-slots medium sums[]
#include <omp.h>
double sum(const double *x, long n) {
  double sums[8] = {0};
#pragma omp parallel num_threads(8)
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
