/* Loops with a second entry, and tests in front of loops: one that skips its loop, one of which both ways lead on to
   it. */
volatile long once, rounds, inner, middle, behind;
volatile long failed, passed, emptied, skipped, idle, worked;
volatile int running, late, again, bad, odd, full, any;

__attribute__((noinline)) void enter_twice(void) {
  once++;
  while (running) {
    rounds++;
    if (late)
      goto within;
    do {
      inner++;
    within:
      middle++;
    } while (again);
  }
  behind++;
}

__attribute__((noinline)) void come_together(void) {
  if (bad)
    failed++;
  else if (odd)
    passed++;
  while (full)
    emptied++;
}

__attribute__((noinline)) void skip(void) {
  if (any)
    do
      emptied++;
    while (full);
  else
    skipped++;
}

__attribute__((noinline)) void go_around(void) {
  while (running) {
    while (full)
      emptied++;
    if (bad) {
      idle++;
      continue;
    }
    if (odd)
      worked++;
  }
}

int main(void) {
  enter_twice();
  come_together();
  skip();
  go_around();
  return 0;
}
