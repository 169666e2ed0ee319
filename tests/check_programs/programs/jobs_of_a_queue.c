// Near miss of pieces_of_a_set: small records that are handed out with the function that works on one in a loop.
// expect: thread-elements-meet medium job
#include <pthread.h>
#include <stdlib.h>
struct job { unsigned seed; volatile unsigned sum; long rounds; };
struct task { void (*run)(void *); void *of; };
static struct {
  _Alignas(64) struct task tasks[16];
  int first, last;
  char apart[56];
  pthread_mutex_t lock;
  char behind[24];
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};
static void add(void (*run)(void *), void *of) { queue.tasks[queue.last++] = (struct task){run, of}; }
static void *worker(void *given) {
  for (;;) {
    pthread_mutex_lock(&queue.lock);
    if (queue.first == queue.last) break;
    struct task next = queue.tasks[queue.first++];
    pthread_mutex_unlock(&queue.lock);
    next.run(next.of);
  }
  pthread_mutex_unlock(&queue.lock);
  return given;
}
static void work_on(void *of) {
  struct job *one = of;
  for (long i = 0; i < one->rounds; i++) one->sum += (unsigned)i ^ one->seed;
}
int main(void) {
  pthread_t thread[4];
  struct job *jobs = calloc(16, sizeof *jobs);
  for (int i = 0; i < 16; i++) {
    jobs[i].rounds = 400000;
    add(work_on, &jobs[i]);
  }
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], 0, worker, 0);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], 0);
  return (int)jobs[0].sum;
}
