// A dot product with OpenMP whose partial sums are kept by hand, one for each thread.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define N 4000000
#ifdef PAD
#define STRIDE 16
#else
#define STRIDE 1
#endif
int main(void) {
  double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
  double *partial = aligned_alloc(128, 128 * 16);
  double sum = 0;
  for (int i = 0; i < N; i++)
    a[i] = i & 15, b[i] = i & 7;
  for (int i = 0; i < 16 * 16; i++)
    partial[i] = 0;
  for (int round = 0; round < 30; round++) {
#pragma omp parallel num_threads(2)
    {
      int me = omp_get_thread_num();
#pragma omp for
      for (int i = 0; i < N; i++)
        partial[me * STRIDE] += a[i] * b[i];
    }
  }
  for (int i = 0; i < 2; i++)
    sum += partial[i * STRIDE];
  printf("%f\n", sum);
  return 0;
}
