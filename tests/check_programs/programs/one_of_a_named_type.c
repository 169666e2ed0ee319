// A static variable whose type has a name is no array: each thread allocates what it counts in.
// no-finding
#include <pthread.h>
#include <stdlib.h>
typedef struct { long done; char name[56]; long failed; } stats;
static stats total;
static _Thread_local stats *mine;
static void *worker(void *given) {
  mine = calloc(1, sizeof *mine);
  for (long i = 0;; i++) {
    mine->done++;
    mine->failed += i & 1;
  }
  return given;
}
int main(void) {
  pthread_t thread[4];
  for (long i = 0; i < 4; i++) pthread_create(&thread[i], 0, worker, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], 0);
  return (int)total.done;
}
