/* before_*, then_* and otherwise_*: written before a branch, on the one arm of it, on the other.  after_* where they
   have met again. */
volatile long before_if, then_if, otherwise_if, after_if;
volatile long before_switch, then_switch, otherwise_switch, after_switch;
volatile long before_loop, then_loop, otherwise_loop, after_loop;
volatile long before_return, then_return, after_return;
volatile int decides;
#define KEPT_APART __asm__ volatile("")

void arms_of_if(long n) {
  before_if = n;
  if (decides) {
    then_if = n;
    KEPT_APART;
  } else {
    otherwise_if = n;
  }
  after_if = n;
}

void arms_of_switch(long n) {
  before_switch = n;
  switch (n) {
  case 0: then_switch = n; break;
  case 3: otherwise_switch = n; break;
  case 77: before_if = n; break;
  }
  after_switch = n;
}

void arms_in_loop(long n) {
  before_loop = n;
  while (n--) {
    if (decides) {
      then_loop = n;
      KEPT_APART;
    } else {
      otherwise_loop = n;
    }
  }
  after_loop = n;
}

void returns_early(long n) {
  before_return = n;
  if (decides) {
    then_return = n;
    KEPT_APART;
    return;
  }
  after_return = n;
}

int main(int n, char **v) {
  arms_of_if(n), arms_of_switch(n), arms_in_loop(n), returns_early(n);
  return v == 0;
}
