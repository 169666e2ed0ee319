// Two counters of one static record; PAD gives each a line of its own.
#include <pthread.h>
#ifdef PAD
#define OWN _Alignas(64)
#else
#define OWN
#endif
_Alignas(64) static struct {
  OWN volatile long in;
  OWN volatile long out;
} traffic;
static void *receive(void *unused) {
  for (long i = 0; i < 60000000; i++)
    traffic.in += i & 7;
  return unused;
}
static void *transmit(void *unused) {
  for (long i = 0; i < 60000000; i++)
    traffic.out += i & 7;
  return unused;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, receive, 0), pthread_create(&b, 0, transmit, 0);
  pthread_join(a, 0), pthread_join(b, 0);
}
