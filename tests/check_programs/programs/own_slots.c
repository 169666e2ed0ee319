// An index in thread-local storage makes the element the thread's own, whoever starts the threads.
// expect: packed-thread-slots medium counts
static __thread unsigned self;
static unsigned long counts[16];
void set_self(unsigned number) { self = number; }
void count(int n) {
  unsigned mine = self;
  for (int i = 0; i < n; i++)
    counts[mine]++;
}
unsigned long counted(void) {
  unsigned long sum = 0;
  for (int i = 0; i < 16; i++)
    sum += counts[i];
  return sum;
}
