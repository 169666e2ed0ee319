// expect: independent-writers align-member hits
#include <pthread.h>
struct board {
  union {
    volatile long hits; // decl: hits
    volatile int low;
  };
  volatile long misses; // decl: misses
};
static struct board board __attribute__((aligned(64)));
static void *first(void *argument) {
  for (;;)
    board.hits++;
  return argument;
}
static void *second(void *argument) {
  for (;;)
    board.misses++;
  return argument;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
