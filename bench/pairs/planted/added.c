// A counter that one worker updates, a limit that the other one reads all the
// time; SLOW adds a variable in front, which moves the counter to the limit.
#include "planted.h"

__attribute__((aligned(LINE))) char banner[LINE - 16] = "0";
#ifdef SLOW
long banner_length = 1;
long banner_lines = 1;
#endif
volatile long taken = 1;
long spare_one = 1;
long spare_two = 1;
long spare_three = 1;
volatile long limit = 1000;
__attribute__((aligned(LINE))) char after_limit[LINE] = "0";

__attribute__((noinline)) static void take(void) {
  for (int i = 0; i < 200; i++)
    taken += i & 7;
}

__attribute__((noinline)) static long look(void) {
  long sum = 0;
  for (int i = 0; i < 200; i++)
    sum += limit ^ i;
  return sum;
}

static void round_of(int worker) {
  if (worker)
    take();
  else if (!look())
    banner[0]++;
}

int main(int argc, char **argv) { run(argc, argv); }
