// OpenMP: sums of threads in an array that the function has on its stack, or
// (PAD) in a reduction over an array.
#include <omp.h>
#include <stdio.h>
static const int hours = 150000000;
static double level(long hour) { return (double)(hour * 7919 % 1000) / 1000; }
int main(void) {
#ifdef PAD
  double sums[2] = {0, 0};
#pragma omp parallel for num_threads(2) reduction(+ : sums[ : 2])
  for (long i = 0; i < 2L * hours; i++)
    sums[i & 1] += level(i);
#else
  _Alignas(64) volatile double sums[2] = {0, 0};
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
    for (long i = me; i < 2L * hours; i += 2)
      sums[me] += level(i);
  }
#endif
  printf("%f\n", sums[0] + sums[1]);
}
