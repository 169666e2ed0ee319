/* What is done where a call failed, whose result is below zero then, and its near misses. */
static volatile long input;

__attribute__((noinline)) long get(void) { return input; }

long below, below_or_zero, failed, left_over, usual, more, set, seven, large, given;

void sign(void) {
  if (get() < 0)
    below = 1;
}

void order(void) {
  if (get() <= 0)
    below_or_zero = 1;
}

void result(void) {
  if (get() == -1)
    failed = 1;
}

void three_ways(void) {
  long n = get();
  if (n > 0)
    more = 1;
  else if (n != 0)
    left_over = 1;
}

void good(void) {
  if (get() >= 0)
    usual = 1;
}

void flag(void) {
  if (get() != 0)
    set = 1;
}

void number(void) {
  if (get() == 7)
    seven = 1;
}

void magnitude(void) {
  if ((unsigned long)get() > 5)
    large = 1;
}

void argument(long n) {
  if (n < 0)
    given = 1;
}

int main(void) {
  argument(get());
  sign(), order(), result(), three_ways();
  good(), flag(), number(), magnitude();
}
