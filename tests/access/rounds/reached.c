/* each_* is written in every round of a loop, some_* on the way behind a test in it.  Behind checks a run of the
   function seldom comes to the loop. */
volatile long each_checked, some_checked, before_checked, each_plain, some_plain;
volatile int each_round, checks_first, checks_second, checks_third;

void loop_behind_checks(long n) {
  if (checks_first)
    return;
  before_checked = n;
  if (checks_second)
    return;
  if (checks_third)
    return;
  do {
    each_checked = n;
    if (each_round)
      some_checked = n;
  } while (--n);
}

void loop_alone(long n) {
  do {
    each_plain = n;
    if (each_round)
      some_plain = n;
  } while (--n);
}

int main(int n, char **arguments) {
  loop_behind_checks(n), loop_alone(n);
  return arguments == 0;
}
