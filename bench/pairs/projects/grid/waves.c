#include "grid.h"
#include <math.h>

static double phase = 0.25;

double wave(double x) {
  phase += 1e-9;
  return sin(x * phase) * exp(-phase);
}
