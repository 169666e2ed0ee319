// Parent and child, each with a number in memory that both map; PAD parts them.
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef PAD
enum { WORDS = 8 };
#else
enum { WORDS = 1 };
#endif
struct scores {
  volatile long parent[WORDS];
  volatile long child[WORDS];
};
int main(void) {
  struct scores *scores =
      mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (scores == MAP_FAILED)
    return 1;
  if (fork() == 0) {
    for (long i = 0; i < 240000000; i++)
      scores->child[0] += i;
    _exit(0);
  }
  for (long i = 0; i < 240000000; i++)
    scores->parent[0] += i;
  wait(0);
  return 0;
}
