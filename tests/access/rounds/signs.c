/* What is done where a call failed, whose result is below zero then, and its
 * near misses. */
static volatile long input;

__attribute__((noinline)) long get(void) { return input; }

long stopped, sent, only, ended, found, last, below, below_or_zero, failed,
    left_over, usual, more, set, seven, large, given;

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

/* A loop that has another exit seldom ends so. */
long send_all(long n) {
  while (n) {
    long done = get();
    if (done < 0) {
      stopped = n;
      return -1;
    }
    n -= done;
  }
  sent++;
  return 0;
}

/* One that has none always does. */
void only_exit(void) {
  while (get() >= 0)
    ;
  only++;
}

/* What is read to the end ends with zero, which is no failure. */
long until_end(void) {
  long n, sum = 0;
  while ((n = get()) > 0) {
    if (n == 9) {
      found = sum;
      return -1;
    }
    sum += n;
  }
  ended++;
  return sum;
}

/* What goes on where a call failed. */
void try_again(void) {
  long n;
  do
    n = get();
  while (n < 0 && get() == 4);
  last++;
}

int main(void) {
  argument(get());
  send_all(get()), only_exit(), until_end(), try_again();
  sign(), order(), result(), three_ways();
  good(), flag(), number(), magnitude();
}
