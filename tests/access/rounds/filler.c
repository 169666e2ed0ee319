/* what is in front of COUNT traps in a row and behind them: as in a kernel,
   whose sections have parts that begin at pages. */
int before, inside, behind;
#if defined(__x86_64__)
#define JUMP "jmp 1f\n"
#ifndef TRAP
#define TRAP "int3\n"
#endif
#elif defined(__aarch64__)
#define JUMP "b 1f\n"
#define TRAP "brk #1\n"
#else
#define JUMP "j 1f\n"
#define TRAP "ebreak\n"
#endif
#define TEXT2(count) #count
#define TEXT(count) TEXT2(count)
__attribute__((noinline)) void work(int n) {
  before = n;
  while (n--) {
    __asm__ volatile(JUMP ".rept " TEXT(COUNT) "\n" TRAP ".endr\n1:");
    inside++;
  }
  behind = n;
}
int main(int n, char **v) {
  work(n);
  return 0;
}
