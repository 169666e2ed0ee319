// ARGS: -fopenmp
// Each thread of a region takes the address of its element once, and works on it in a loop that the threads share out.
// expect: packed-thread-slots high run.each[0].found
#include <omp.h>
#include <stdlib.h>
struct part { long found, seen; };
struct run { int threads; struct part each[16]; };
long search(struct run *run, const int *keys, int n) {
#pragma omp parallel num_threads(run->threads)
  {
    struct part *mine = &run->each[omp_get_thread_num()];
#pragma omp for
    for (int i = 0; i < n; i++)
      for (int k = 0; k < 8; k++)
        mine->found += keys[i] == k;
  }
  long all = 0;
  for (int t = 0; t < run->threads; t++)
    all += run->each[t].found;
  return all;
}
int main(void) {
  struct run *run = calloc(1, sizeof *run);
  int *keys = calloc(1000, sizeof *keys);
  run->threads = 4;
  for (int k = 0; k < 100; k++)
    search(run, keys, 1000);
  return 0;
}
