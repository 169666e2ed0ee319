/* rare: the way to an instruction that traps.  With TABLE the file has what a
   kernel has, which warns by such an instruction and goes on behind it. */
volatile int before, rounds, failed, warned, after, limit;
#ifndef TABLE
#define TRAP() __builtin_trap()
#elif defined(__x86_64__)
#define TRAP() __asm__ volatile("ud2")
#elif defined(__aarch64__)
#define TRAP() __asm__ volatile("brk #0x800")
#else
#define TRAP() __asm__ volatile("ebreak")
#endif
#ifdef TABLE
__attribute__((section("__bug_table"), used)) int table[3] = {1, 2, 3};
#endif
__attribute__((noinline)) void work(int n) {
  before++;
  while (n--) {
    rounds++;
    if (n == limit) {
      warned++;
      TRAP();
    }
  }
  after++;
}
__attribute__((noinline)) void check(int n) {
  if (n == limit) {
    failed++;
    __builtin_trap();
  }
  before++;
}
int main(int n, char **v) {
  work(n);
  check(n);
  return 0;
}
