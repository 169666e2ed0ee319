// expect: independent-writers align-member changes
#include <pthread.h>
struct connection {
  volatile long changes; // decl: changes
  volatile long refs; // decl: refs
  char address[72]; // decl: address
  long limits[13]; // decl: limits
};
_Alignas(64) char anchor[64];
static struct connection pool[1];
static void *first(void *argument) {
  for (;;)
    pool[0].refs++;
  return argument;
}
static void *second(void *argument) {
  for (;;)
    pool[0].changes++;
  return argument;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return pool[0].address[3] + (int)pool[0].limits[1];
}
