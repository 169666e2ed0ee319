// expect: two-locks-one-line pad-element grid
#include <pthread.h>
struct place { pthread_mutex_t lock; int count; };
_Alignas(64) char anchor[64];
struct place grid[2][4]; // decl: grid
static void *worker(void *argument) {
  long me = (long)argument;
  for (long i = 0; i < 1000000000; i++) {
    pthread_mutex_lock(&U_grid(me & 1][me >> 1).lock);
    U_grid(me & 1][me >> 1).count++;
    pthread_mutex_unlock(&U_grid(me & 1][me >> 1).lock);
  }
  return 0;
}
int main(void) {
  pthread_t threads[8];
  for (long i = 0; i < 8; i++)
    pthread_create(&threads[i], 0, worker, (void *)i);
  for (long i = 0; i < 8; i++)
    pthread_join(threads[i], 0);
  return anchor[0];
}
