#include "grid.h"
#include <stdio.h>

static const char *const shades[] = {" ", ".", ":", "o", "O", "@"};

const char *shade(double value) {
  switch ((int)(value * 6)) {
  case 0:
    return shades[0];
  case 1:
    return shades[1];
  case 2:
    return shades[2];
  case 3:
    return shades[3];
  case 4:
    return shades[4];
  default:
    return shades[5];
  }
}

void draw(void) {
  for (int i = 0; i < SIDE; i += 8) {
    for (int k = 0; k < SIDE; k += 2)
      fputs(shade(cells[i][k]), stdout);
    putchar('\n');
  }
  printf("%ld steps, %g lost\n", steps_done, heat_lost);
}
