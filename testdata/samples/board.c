// Memory that two processes map; PAD parts what each writes.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef PAD
#define OWN _Alignas(64)
#else
#define OWN
#endif
struct board {
  OWN volatile long red;
  OWN volatile long blue;
};
static void play_red(struct board *b) {
  for (long i = 0; i < 60000000; i++)
    b->red += i & 3;
}
static void play_blue(struct board *b) {
  for (long i = 0; i < 60000000; i++)
    b->blue += i & 3;
}
int main(void) {
  struct board *b =
      mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (fork() == 0)
    play_red(b), _exit(0);
  if (fork() == 0)
    play_blue(b), _exit(0);
  wait(0), wait(0);
}
