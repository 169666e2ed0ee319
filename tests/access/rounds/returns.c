/* What is done on a way that returns at once, and what is done where none does. */
static volatile long input;

__attribute__((noinline)) long get(void) { return input; }

long refused, accepted, guarded, called, both, other, last;

/* A guard of two tests in front of much code. */
long guard(unsigned a, long from, long to) {
  if (a > 2 || from > to) {
    refused++;
    return 0;
  }
  accepted++;
  return get() + get() * get();
}

/* Three of them. */
long guards(long a, long b, long c) {
  if (a == 7)
    return 3;
  if (b == 8)
    return 5;
  if (c == 9)
    return 6;
  guarded++;
  return get() + get() * get();
}

/* A call is on the way: it does not return at once. */
long calls(long a) {
  if (a == 7) {
    called++;
    return get() * 3 + get();
  }
  other++;
  return get() + get() * get();
}

/* Both ways do. */
long either(long a) {
  if (a == 7)
    both++;
  return a;
}

/* The other way is no more than a last call: a test at a function's end is no guard. */
void ends(long a) {
  if (a == 7) {
    last++;
    get();
  }
}

int main(int n, char **arguments) {
  ends(n);
  return guard(n, n, n) + guards(n, n, n) + calls(n) + either(n) + (arguments == 0);
}
