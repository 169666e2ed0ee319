// A helper that waits for what is signalled once writes next to nothing.
// no-finding
#include <pthread.h>
#include <unistd.h>

struct {
  pthread_mutex_t m;
  pthread_cond_t c;
  int queued;
  char rest[36];
} q __attribute__((aligned(128)));
struct {
  long served, written;
  char rest[112];
} totals __attribute__((aligned(128)));

static void *serve(void *p) {
  char b[64];
  while (read(0, b, 64) > 0)
    totals.served++;
  return p;
}

static void *helper(void *p) {
  for (;;) {
    pthread_mutex_lock(&q.m);
    while (!q.queued)
      pthread_cond_wait(&q.c, &q.m);
    q.queued--;
    pthread_mutex_unlock(&q.m);
    totals.written += (long)p;
  }
  return p;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, serve, 0);
  pthread_create(&b, 0, helper, 0);
  pthread_join(a, 0);
  pthread_mutex_lock(&q.m);
  q.queued++;
  pthread_cond_signal(&q.c);
  pthread_mutex_unlock(&q.m);
  pthread_join(b, 0);
  return (int)(totals.served + totals.written);
}
