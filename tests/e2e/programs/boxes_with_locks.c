// Boxes, each under its own lock in a second array: who puts into the next one has another lock, and the line.
// expect: two-locks-one-line high locks
// expect: packed-thread-slots high boxes
// expect-of-source: two-locks-one-line medium locks[0]
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
static pthread_mutex_t locks[8] __attribute__((aligned(64)));
static struct {
  uint32_t messages;
  uint32_t bytes;
} boxes[8] __attribute__((aligned(64)));

static void *deliver(void *arg) {
  uint32_t seed = (uint32_t)(uintptr_t)arg;
  for (long i = 0; i < 100000000; i++) {
    seed = seed * 1664525u + 1013904223u;
    unsigned to = seed >> 29;
    pthread_mutex_lock(&locks[to]);
    boxes[to].messages++;
    boxes[to].bytes += seed & 255;
    pthread_mutex_unlock(&locks[to]);
  }
  return 0;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 8; i++)
    pthread_mutex_init(&locks[i], 0);
  for (uintptr_t i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, deliver, (void *)i);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
  return boxes[0].messages + boxes[0].bytes == 0;
}
