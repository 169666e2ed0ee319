/* What is done in one of so many rounds, beside what only looks like it. */
#define SLOT __attribute__((aligned(64))) volatile unsigned
SLOT modulus, remainder_of, masked, masked_high, equal_reset, order_reset, down_reset, inner, large, in_memory, fetched, around;
SLOT multiple, flag, whole, few, third, seldom_entered, each_round;
unsigned work(unsigned);
struct owner { unsigned calls; };

void by_modulus(unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    work(i);
    if (i % 100000 == 0)
      modulus++;
  }
}
void by_remainder(unsigned n) {
  for (unsigned i = 0; i < n; i++)
    if (work(i) % 1000 == 7)
      remainder_of++;
}
void by_mask(unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    work(i);
    if ((i & 0xffff) == 0)
      masked++;
  }
}
void by_last(unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    work(i);
    if ((i & 0x3fff) != 0x3fff)
      continue;
    masked_high++;
  }
}
void by_equal(void) {
  for (unsigned c = 0;;) {
    work(c);
    if (++c == 50000) {
      c = 0;
      equal_reset++;
    }
  }
}
void by_order(void) {
  for (unsigned c = 0;;) {
    work(c);
    if (++c >= 50000) {
      order_reset += c;
      c = 0;
    }
  }
}
void by_down(void) {
  unsigned c = 50000;
  for (;;) {
    work(c);
    if (--c == 0) {
      c = 50000;
      down_reset++;
    }
  }
}
void by_inner(unsigned n) {
  while (n--) {
    for (int i = 0; i < 20000; i++)
      work(i);
    inner++;
  }
}
void by_large(unsigned long n) {
  for (unsigned long i = 0; i < n; i++) {
    work((unsigned)i);
    if (i % 1000003 == 0)
      large++;
  }
}
void by_memory(struct owner *o) {
  for (;;) {
    work(1);
    if ((++o->calls & 0xfff) == 0)
      in_memory++;
  }
}
void by_fetching(unsigned *n) {
  for (;;)
    if (__atomic_fetch_add(n, 1, __ATOMIC_RELAXED) % 4096 == 0)
      fetched++;
}
void by_size(unsigned *n, const unsigned *size) {
  for (;;)
    if (__atomic_fetch_add(n, 1, __ATOMIC_RELAXED) % *size == 0)
      around++;
}

/* Near misses. */
void by_blocks(unsigned n, const unsigned *size) {
  for (unsigned i = 0; i < n; i++)
    if (work(i) % *size == 0) /* of a length, say: it often is */
      multiple++;
}
void by_flag(unsigned n) {
  for (unsigned i = 0; i < n; i++)
    if (work(i) & 0x1000)
      flag++;
}
void by_alignment(unsigned n) {
  for (unsigned i = 0; i < n; i++)
    if ((work(i) & 0xfff) == 0) /* of a size, say: it often is */
      whole++;
}
void by_two(unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    work(i);
    if (i % 2 == 0)
      few++;
  }
}
void by_bytes(unsigned char *page, unsigned n) {
  for (unsigned i = 0; i < n; i++)
    if (page[work(i) & 0xff]++ % 3 == 0)
      third++;
}
void by_branch(unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    each_round++;
    if (work(i) == 3)
      for (int k = 0; k < 20000; k++)
        seldom_entered = work(k);
  }
}

int main(int argc, char **argv) {
  (void)argv;
  by_modulus(argc), by_remainder(argc), by_mask(argc), by_last(argc), by_equal(), by_order(), by_down();
  by_inner(argc), by_large(argc), by_memory((struct owner *)argv), by_fetching((unsigned *)argv);
  by_flag(argc), by_alignment(argc), by_two(argc), by_bytes((unsigned char *)argv, argc), by_branch(argc);
}
unsigned work(unsigned x) {
  static volatile unsigned sum;
  return sum += x;
}
