// A queue: whoever empties it counts beside the lock what it passed on, outside of the lock that others take to fill it.
// expect: hot-lock-shares-line high queue.lock queue.sent
#include <pthread.h>

static struct __attribute__((aligned(64))) queue {
  pthread_mutex_t lock;
  int tail, head;
  unsigned long sent;
} queue = {PTHREAD_MUTEX_INITIALIZER};

static void *fill(void *argument) {
  for (;;) {
    pthread_mutex_lock(&queue.lock);
    queue.tail++;
    pthread_mutex_unlock(&queue.lock);
  }
}

static void *empty(void *argument) {
  for (;;) {
    pthread_mutex_lock(&queue.lock);
    int some = queue.tail - queue.head;
    queue.head = queue.tail;
    pthread_mutex_unlock(&queue.lock);
    for (int i = 0; i < some; i++)
      queue.sent = queue.sent * 31 + i;
  }
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, fill, 0);
  pthread_create(&threads[1], 0, empty, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
}
