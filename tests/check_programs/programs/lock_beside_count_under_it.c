// The same where all that take the lock count, one after the other and under it: it brings them the line.
// no-finding
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
    queue.sent++;
    pthread_mutex_unlock(&queue.lock);
  }
}

static void *empty(void *argument) {
  for (;;) {
    pthread_mutex_lock(&queue.lock);
    int some = queue.tail - queue.head;
    queue.head = queue.tail;
    queue.sent += some;
    pthread_mutex_unlock(&queue.lock);
  }
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, fill, 0);
  pthread_create(&threads[1], 0, empty, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
}
