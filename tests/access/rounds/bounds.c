/* Numbers that choose an element or a case are within bounds as a rule; near
 * misses. */
struct handler {
  long (*call)(long);
  long calls, more;
};
struct handler handlers[8];
volatile long table[8];
static volatile unsigned long input;

long too_large, has_none, also_bad, after_bad, defaulted, first_case, both,
    larger, unused, signed_one, looped, passed;

__attribute__((noinline)) void dispatch(unsigned long type, long x) {
  if (type >= 8) {
    too_large++;
    return;
  }
  handlers[type].calls++;
  passed = handlers[type].call(x);
}

/* What leads to where that leads is an error as well. */
__attribute__((noinline)) void serve(long n) {
  while (n--) {
    unsigned long type = input;
    if (type >= 8 || !handlers[type].call) {
      also_bad += 2;
    } else {
      after_bad += handlers[type].call(n);
    }
    has_none = n;
  }
}

__attribute__((noinline)) void choose(unsigned long type) {
  switch (type) {
  case 0: first_case += 7; break;
  case 1: has_none = input; break;
  case 2: passed += input * 3; break;
  case 3: passed ^= input; break;
  case 4: both = input - 4; break;
  case 5: input = 3; break;
  default: defaulted += input; has_none = 9;
  }
  input = 1;
}

/* Another number chooses the element. */
__attribute__((noinline)) void compare(unsigned long n, unsigned long at) {
  if (n > 7)
    larger += 3;
  else
    unused = table[at & 7];
  input = 2;
}

int main(int count, char **arguments) {
  (void)arguments;
  dispatch(input, count), serve(count), choose(input), compare(input, input);
}
