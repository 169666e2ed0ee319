#include "grid.h"
#include <string.h>

static double totals[4];

double at_edge(int row, int column) {
  if (row < 0 || column < 0 || row >= SIDE || column >= SIDE)
    return wave(row + column);
  return cells[row][column];
}

double step(double rate) {
  double change = 0;
  for (int i = 0; i < SIDE; ++i)
    for (int k = 0; k < SIDE; ++k) {
      double around =
          at_edge(i - 1, k) + at_edge(i + 1, k) + at_edge(i, k - 1) + at_edge(i, k + 1);
      double moved = rate * (around / 4 - cells[i][k]);
      next_cells[i][k] = cells[i][k] + moved;
      change += moved < 0 ? -moved : moved;
      totals[(i ^ k) & 3] += moved;
    }
  memcpy(cells, next_cells, sizeof cells);
  heat_lost += totals[0] - totals[3];
  ++steps_done;
  return change;
}
