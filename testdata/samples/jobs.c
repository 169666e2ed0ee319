// Two small allocations that malloc puts side by side, each a thread's own.
#include <pthread.h>
#include <stdlib.h>
typedef struct {
  volatile long jobs;
#ifdef PAD
  char pad[120];
#endif
} worker_state;
static void *work(void *p) {
  worker_state *mine = p;
  for (long i = 0; i < 240000000; i++)
    mine->jobs += 2;
  return 0;
}
int main(void) {
  worker_state *first = calloc(1, sizeof *first),
               *second = calloc(1, sizeof *second);
  if (sizeof *first < 64 &&
      (size_t)first / 64 !=
          (size_t)second / 64) // then it shares its line with the next
    first = second, second = calloc(1, sizeof *second);
  pthread_t a, b;
  pthread_create(&a, 0, work, first), pthread_create(&b, 0, work, second);
  pthread_join(a, 0), pthread_join(b, 0);
}
