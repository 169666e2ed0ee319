// Boxes under one lock for all of them: one thread at a time puts into any.
// no-finding
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
static pthread_mutex_t lock __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
static struct {
  uint32_t messages;
  uint32_t bytes;
} boxes[8] __attribute__((aligned(64)));

static void *deliver(void *arg) {
  uint32_t seed = (uint32_t)(uintptr_t)arg;
  for (long i = 0; i < 100000000; i++) {
    seed = seed * 1664525u + 1013904223u;
    unsigned to = seed >> 29;
    pthread_mutex_lock(&lock);
    boxes[to].messages++;
    boxes[to].bytes += seed & 255;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}
int main(void) {
  pthread_t threads[4];
  for (uintptr_t i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, deliver, (void *)i);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
  return boxes[0].messages + boxes[0].bytes == 0;
}
