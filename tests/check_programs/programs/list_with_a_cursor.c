// The next one of a list is noted before the lock of this one is given back: no array, though two pointers take turns.
// no-finding
#include <pthread.h>
#include <stdlib.h>
struct job { pthread_mutex_t lock; long done; struct job *next; char name[40]; long failed; };
static struct job *jobs;
static int count;
static __attribute__((noinline)) void work_on(struct job *one) {
  pthread_mutex_lock(&one->lock);
  one->done++;
  pthread_mutex_unlock(&one->lock);
}
static void *worker(void *given) {
  for (;;) {
    struct job *one, *next;
    for (one = jobs, next = one; one; one = next) {
      pthread_mutex_lock(&one->lock);
      next = one->next;
      one->done++;
      one->failed += next > one;
      pthread_mutex_unlock(&one->lock);
      work_on(one);
    }
  }
  return given;
}
int main(int argc, char **argv) {
  pthread_t thread[4];
  (void)argv;
  for (count = 0; count < argc; count++) {
    struct job *made = calloc(1, sizeof *made);
    pthread_mutex_init(&made->lock, 0);
    made->next = jobs;
    jobs = made;
  }
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], 0, worker, 0);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], 0);
}
