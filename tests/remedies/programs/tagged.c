// expect: independent-writers pad-type cells
#include <pthread.h>
struct cell { long hits; long misses; };
_Alignas(64) char anchor[64];
static volatile struct cell cells; // decl: cells
static volatile struct cell others; // decl: others
static void *first(void *argument) {
  for (;;)
    U_cells.hits++;
  return argument;
}
static void *second(void *argument) {
  for (;;)
    U_others.hits++;
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
