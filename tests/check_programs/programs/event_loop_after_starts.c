// The loop that serves stands right behind the loop that starts the threads: both run at the same time.
// expect: independent-writers high state.served state.jobs_done
#include <pthread.h>
#include <unistd.h>
static struct {
  long served;
  long jobs_done;
} state;
static void *worker(void *arg) {
  char b[64];
  while (read((int)(long)arg, b, sizeof b) > 0)
    __atomic_fetch_add(&state.jobs_done, 1, __ATOMIC_RELAXED);
  return 0;
}
static void serve(void) {
  char b[64];
  if (read(0, b, sizeof b) > 0)
    __atomic_fetch_add(&state.served, 1, __ATOMIC_RELAXED);
}
int main(void) {
  for (long i = 0; i < 3; i++) {
    pthread_t t;
    pthread_create(&t, 0, worker, (void *)i);
  }
  for (;;)
    serve();
}
