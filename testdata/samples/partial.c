// OpenMP: partial sums in an array, or (REDUCTION) in the threads' own
// variables.
#include <omp.h>
#include <stdio.h>
_Alignas(64) static volatile double partial[64];
int main(void) {
  double sum = 0;
#ifdef REDUCTION
#pragma omp parallel for num_threads(2) reduction(+ : sum)
  for (long i = 1; i < 150000000; i++)
    sum += 1.0 / i;
#else
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
    for (long i = 1; i < 60000000; i++)
      partial[me] += 1.0 / i;
  }
  sum = partial[0] + partial[1];
#endif
  printf("%f\n", sum);
}
