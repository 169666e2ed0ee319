// A parent and its child keep their own progress in memory that they map together before the fork.
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
struct progress {
  unsigned long parent;
#ifdef PAD
  char room[120];
#endif
  unsigned long child;
};
static unsigned long mix(unsigned long x) { return (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ul; }
static void sweep(unsigned long *mine, unsigned long seed) {
  for (long i = 0; i < 200000000; i++) {
    seed = mix(seed + i);
    if (seed & 3)
      __atomic_store_n(mine, __atomic_load_n(mine, __ATOMIC_RELAXED) + (seed & 7), __ATOMIC_RELAXED);
  }
}
int main(void) {
  struct progress *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return 1;
  pid_t kid = fork();
  if (kid == 0) {
    sweep(&p->child, 5);
    _exit(0);
  }
  sweep(&p->parent, 9);
  waitpid(kid, NULL, 0);
  printf("%lu %lu\n", p->parent, p->child);
  return 0;
}
