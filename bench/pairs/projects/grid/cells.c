#include "grid.h"

double cells[SIDE][SIDE];
double next_cells[SIDE][SIDE];
double heat_lost;
long steps_done;
static unsigned state;

static double drawn(void) {
  state = state * 1103515245u + 12345u;
  return (double)(state >> 16) / 65536.0;
}

void fill(unsigned seed) {
  state = seed;
  for (int i = 0; i < SIDE; ++i)
    for (int k = 0; k < SIDE; ++k)
      cells[i][k] = drawn();
}
