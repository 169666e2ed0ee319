// A lock and a list head beside it; producers take the lock, a poller looks at the head.
// expect: hot-lock-shares-line high q.lock q.head
#include <pthread.h>
struct __attribute__((aligned(64))) {
  pthread_mutex_t lock;
  volatile long *volatile head;
} q;
static long item;
static void *producer(void *n) {
  for (long i = 0; i < (long)n; i++) {
    pthread_mutex_lock(&q.lock);
    pthread_mutex_unlock(&q.lock);
  }
  return 0;
}
static void *poller(void *n) {
  long seen = 0;
  for (long i = 0; i < (long)n; i++)
    if (q.head)
      seen++;
    else
      q.head = &item;
  return (void *)seen;
}
int main(int argc, char **argv) {
  pthread_t a, b;
  pthread_create(&a, 0, producer, (void *)(long)(argc * 1000));
  pthread_create(&b, 0, poller, (void *)(long)(argc * 1000));
  pthread_join(a, 0);
  pthread_join(b, 0);
  return q.head != 0;
}
