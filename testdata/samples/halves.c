// A big array that two threads work on, half each.
#include <pthread.h>
#include <stdlib.h>
enum { COUNT = 1 << 16 };
static long *cells;
static void *fill(void *p) {
  long *from = p;
  for (int round = 0; round < 4000; round++)
    for (int i = 0; i < COUNT / 2; i++)
      from[i] += round;
  return 0;
}
int main(void) {
  cells = aligned_alloc(64, COUNT * sizeof *cells);
  for (int i = 0; i < COUNT; i++)
    cells[i] = 0;
  pthread_t a, b;
  pthread_create(&a, 0, fill, cells),
      pthread_create(&b, 0, fill, cells + COUNT / 2);
  pthread_join(a, 0), pthread_join(b, 0);
}
