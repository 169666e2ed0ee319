/* A histogram of letters with a row for each thread of OpenMP, rows of 32
 * bytes; WIDE rows have a line each. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

#ifdef WIDE
#define COLUMNS 16
#else
#define COLUMNS 8
#endif

static uint32_t rows[2][COLUMNS] __attribute__((aligned(64)));

int main(void) {
  uint32_t all = 0;
#pragma omp parallel num_threads(2)
  {
    volatile uint32_t *row = rows[omp_get_thread_num()];
    uint32_t text = 12345;
    for (int i = 0; i < 40000000; ++i) {
      text = text * 69069 + 1;
      row[text >> 29] += 1;
    }
  }
  for (int i = 0; i < 8; ++i)
    all += rows[0][i] + rows[1][i];
  printf("%u\n", all);
  return 0;
}
