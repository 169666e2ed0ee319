// A proxy's threads count what they do in an element of an array each, numbered by a thread-local variable.
// about: activity
#include <pthread.h>
#include <poll.h>

#define MAX_THREADS 64
#ifdef FIXED
#define THREAD_ALIGNED __attribute__((aligned(64)))
#else
#define THREAD_ALIGNED
#endif

struct activity {
  unsigned int loops, wake_tasks, wake_signal, poll_exp;
  unsigned long long pool_fail, accepted, maxconn_reached;
#ifdef EDIT
  const char *last_reason; /* for the debugger */
#endif
} THREAD_ALIGNED;

struct activity activity[MAX_THREADS];
static int nbthread = 8;
static __thread unsigned int tid;
static __thread int run_queue;
extern int fd_dispatch(struct pollfd *fd);
extern int process_task(void);

static void process_runnable_tasks(void) {
  while (run_queue > 0) {
    activity[tid].wake_tasks++;
    run_queue -= process_task();
  }
}

static void run_poll_loop(void) {
  struct pollfd fds[64];
  int timeout = 1000;

  for (;;) {
    process_runnable_tasks();
    activity[tid].loops++;
    int n = poll(fds, 64, timeout);
    if (n == 0) {
      activity[tid].poll_exp++;
      continue;
    }
    for (int i = 0; i < n; i++) {
      if (fd_dispatch(&fds[i]))
        activity[tid].accepted++;
      run_queue++;
    }
  }
}

static void *run_thread_poll_loop(void *data) {
  tid = (unsigned long)data;
  run_poll_loop();
  return NULL;
}

unsigned long long total_accepted(void) {
  unsigned long long sum = 0;
  for (int i = 0; i < nbthread; i++)
    sum += activity[i].accepted;
  return sum;
}

int main(void) {
  pthread_t threads[MAX_THREADS];

  for (long i = 1; i < nbthread; i++)
    pthread_create(&threads[i], NULL, run_thread_poll_loop, (void *)i);
  run_thread_poll_loop(0);
  return 0;
}
