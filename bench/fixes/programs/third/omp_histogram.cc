// A histogram in parallel: each thread counts into its own short row of one array.
// about: rows
#include <omp.h>
#include <vector>

#ifdef FIXED
constexpr int kRow = 16;
#else
constexpr int kRow = 4;
#endif

struct
#ifdef FIXED
    alignas(64)
#endif
        Row {
  unsigned counts[kRow];
};

static Row rows[256];

void histogram(const unsigned char *data, long size, unsigned *result) {
#pragma omp parallel
  {
    int self = omp_get_thread_num();
#pragma omp for
    for (long i = 0; i < size; ++i)
      rows[self].counts[data[i] & 3]++;
  }
  for (const Row &row : rows)
    for (int i = 0; i < 4; ++i)
      result[i] += row.counts[i];
}
#ifdef EDIT
unsigned total(const unsigned *result) { return result[0] + result[1] + result[2] + result[3]; }
#endif
