#include "grid.h"
#include <stdlib.h>

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 100;
  fill(7);
  for (long i = 0; i < rounds; ++i)
    if (step(0.2) < 1e-6)
      break;
  draw();
  return 0;
}
