// A lock, and a flag beside it that is read without it all the time; PAD parts
// them.
#include <pthread.h>
#ifdef PAD
#define OWN _Alignas(64)
#else
#define OWN
#endif
_Alignas(64) static struct {
  OWN pthread_mutex_t lock;
  OWN volatile int open;
} door = {PTHREAD_MUTEX_INITIALIZER, 1};
_Alignas(64) static long passed;
static void *guard(void *unused) {
  for (long i = 0; i < 12000000; i++)
    pthread_mutex_lock(&door.lock), passed++, pthread_mutex_unlock(&door.lock);
  door.open = 0;
  return unused;
}
static void *visitor(void *unused) {
  volatile long seen = 0;
  while (door.open)
    seen++;
  return unused;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, guard, 0), pthread_create(&b, 0, visitor, 0);
  pthread_join(a, 0), pthread_join(b, 0);
}
