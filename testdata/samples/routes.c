// A table of routes that two threads search all the time, and in which a third
// changes one entry fifty times a second.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
struct route {
  uint32_t network, mask;
  uint16_t port;
  _Atomic uint16_t metric;
};
static struct route routes[96];
static atomic_bool down;
static unsigned best(uint32_t to) {
  unsigned port = 0, least = UINT16_MAX;
  for (unsigned i = 0; i < 96; i++) {
    const struct route *r = &routes[i];
    if ((to & r->mask) == r->network && r->metric < least) {
      least = r->metric;
      port = r->port;
    }
  }
  return port;
}
static void *forward(void *seed) {
  uint32_t to = (uint32_t)(uintptr_t)seed;
  unsigned long ports = 0;
  while (!atomic_load_explicit(&down, memory_order_relaxed))
    for (int i = 0; i < 1000; i++)
      ports += best(to = to * 1664525 + 1013904223);
  return (void *)ports;
}
int main(void) {
  for (unsigned i = 0; i < 96; i++)
    routes[i] = (struct route){i << 24, 0xff000000, (uint16_t)i, 1};
  pthread_t a, b;
  pthread_create(&a, 0, forward, (void *)1);
  pthread_create(&b, 0, forward, (void *)2);
  for (int i = 0; i < 50; i++) {
    nanosleep(&(struct timespec){0, 20000000}, 0);
    routes[i % 96].metric = (uint16_t)(i % 7);
  }
  down = 1;
  pthread_join(a, 0);
  pthread_join(b, 0);
}
