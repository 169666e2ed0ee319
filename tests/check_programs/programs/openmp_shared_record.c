// ARGS: -fopenmp
// A local record of the function around a region, which all its threads use: each takes the next place beside what all
// of them read.
// expect: written-beside-read-mostly low front.next front.items
#include <stdlib.h>
struct front {
  int *items;
  long count, next;
};
long fill(int n) {
  struct front f = {0};
  f.count = n;
  f.items = calloc(n, sizeof *f.items);
#pragma omp parallel num_threads(4)
  {
#pragma omp for
    for (int i = 0; i < n; i++)
      for (int k = 0; k < f.items[i]; k++)
        __atomic_fetch_add(&f.next, 1, __ATOMIC_RELAXED);
  }
  free(f.items);
  return f.next;
}
int main(void) {
  for (int k = 0; k < 100; k++)
    fill(1000);
  return 0;
}
