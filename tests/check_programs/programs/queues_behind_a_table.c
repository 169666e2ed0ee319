// Queues of a driver: each is handed to functions that are called through pointers, by whichever thread polls it.
// expect: thread-elements-meet medium queue
#include <pthread.h>
#include <stdlib.h>
struct queue { unsigned long packets, bytes; int socket; };
struct device { unsigned (*receive)(void *, unsigned); void *queues[16]; };
struct driver { struct queue *queues; int count; };
static struct device device;
static unsigned receive(void *given, unsigned most) {
  struct queue *mine = given;
  unsigned got = most / 2;
  mine->packets += got;
  mine->bytes += got * 64ul;
  return got;
}
static __attribute__((noinline)) void set_up(struct driver *driver) {
  driver->queues = calloc(driver->count, sizeof *driver->queues);
  for (int i = 0; i < driver->count; i++) {
    driver->queues[i].socket = i;
    device.queues[i] = &driver->queues[i];
  }
  device.receive = receive;
}
static void *worker(void *given) {
  for (unsigned most = 32;;) most += device.receive(device.queues[(long)given], most);
  return given;
}
int main(void) {
  pthread_t thread[4];
  struct driver driver = {.count = 4};
  set_up(&driver);
  for (long i = 0; i < 4; i++) pthread_create(&thread[i], 0, worker, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], 0);
}
