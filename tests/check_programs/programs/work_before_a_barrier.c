// ARGS: -fopenmp
// Both run before the barrier; a loop with nowait is none.
// expect: independent-writers medium frame.filled frame.mixed
#include <omp.h>
#include <stdatomic.h>

struct frame {
  atomic_long filled;
  atomic_long mixed;
};
static struct frame frame;

extern long look(long);

static void fill(void) {
  for (int i = 0; i < 100000; i++)
    atomic_fetch_add(&frame.filled, look(i));
}

static void mix(void) {
  for (int i = 0; i < 100000; i++)
    atomic_fetch_add(&frame.mixed, look(i));
}

int main(void) {
#pragma omp parallel num_threads(2)
  {
    int number = omp_get_thread_num();
    for (int round = 0; round < 1000; round++) {
      if (number == 0)
        fill();
#pragma omp for nowait
      for (int i = 0; i < 4; i++)
        look(i);
      if (number == 1)
        mix();
#pragma omp barrier
#pragma omp barrier
    }
  }
}
