// Elements of a line each, at the number of the thread; and a table at an index that is handed in.
// no-finding
static __thread unsigned self;
struct slot {
  unsigned long calls;
} __attribute__((aligned(64)));
static struct slot slots[16];
static unsigned long table[16];
void count(int n, unsigned at) {
  for (int i = 0; i < n; i++) {
    slots[self].calls++;
    table[at]++;
  }
}
