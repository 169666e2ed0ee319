/* What a thread gets where it finds that it has none, and what only looks so. */
static __thread int number = -1, left, state;
static __thread char *record, *cache, *top, *kept;
long numbers, records, caches, refills, states, entered, left_again, others;
__attribute__((noinline)) char *make(void) { __asm__ volatile(""); return (char *)&others; }
__attribute__((noinline)) void numbered(long *slots) {
  if (number == -1)
    number = __atomic_fetch_add(&numbers, 1, __ATOMIC_RELAXED);
  slots[number]++;
}
__attribute__((noinline)) char *recorded(void) {
  if (!record) {
    records++;
    record = make();
  }
  return record;
}
__attribute__((noinline)) void cached(void) { cache = make(); }
__attribute__((noinline)) char *lookup(void) {
  if (!cache) {
    caches++;
    cached();
  }
  return cache;
}
__attribute__((noinline)) void enter(char *to) { top = to; }
__attribute__((noinline)) void leave(char *to) { top = to; }
__attribute__((noinline)) void visit(char *to) {
  if (!top) {
    entered++;
    enter(to);
  }
}
__attribute__((noinline)) void keep(char *to) { kept = to; }
__attribute__((noinline)) void give(char *to) {
  if (kept) {
    left_again++;
    keep(to);
  }
}
__attribute__((noinline)) void used_up(void) {
  if (!left) {
    refills++;
    left = (int)(long)make();
  }
  left--;
}
__attribute__((noinline)) void again(void) {
  if (state == 0) {
    states++;
    state = 1;
  }
}
__attribute__((noinline)) void back(void) { state = 0; }
int main(int argc, char **argv) {
  static long slots[16];
  while (argc--) {
    numbered(slots);
    recorded();
    lookup();
    visit(argv[0]);
    leave(argv[1]);
    give(argv[0]);
    used_up();
    again();
    back();
  }
  return 0;
}
