// Near miss of one_of_a_named_type: an array of that type, of which each thread takes an element.
// expect: thread-elements-meet medium all
#include <pthread.h>
#include <stdlib.h>
typedef struct { long done; char name[56]; long failed; } stats;
static stats all[4];
static _Thread_local stats *mine;
static void *worker(void *given) {
  mine = &all[(long)given];
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
  return (int)all[0].done;
}
