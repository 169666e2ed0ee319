/* What does not come back, in the middle of loops and of straight code. */
#include <stdio.h>
#include <stdlib.h>
long before, last, rounds, noted, checked, after;

void serve(void) {
  before++;
  for (;;) {
    int got = rand();
    if (got > 8)
      break;
    if (got == 3) {
      last++;
      abort();
    }
    rounds++;
    if (got == 4) {
      noted++;
      puts("four");
    }
  }
  if (rand() == 5) {
    checked++;
    abort();
  }
  after++;
}

int main(void) {
  serve();
  return 0;
}
