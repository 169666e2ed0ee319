// A lock made of a futex, and a count beside it that another thread keeps; PAD
// parts them.
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef PAD
#define OWN _Alignas(64)
#else
#define OWN
#endif
_Alignas(64) static struct {
  OWN atomic_int gate;
  OWN volatile long looks;
} hall;
_Alignas(64) static long inside;
static void enter(void) {
  int free = 0;
  if (atomic_compare_exchange_strong(&hall.gate, &free, 1))
    return;
  while (atomic_exchange(&hall.gate, 2))
    syscall(SYS_futex, &hall.gate, FUTEX_WAIT, 2, 0, 0, 0);
}
static void leave(void) {
  if (atomic_exchange(&hall.gate, 0) == 2)
    syscall(SYS_futex, &hall.gate, FUTEX_WAKE, 1, 0, 0, 0);
}
static void *walk(void *unused) {
  for (int i = 0; i < 12000000; i++)
    enter(), inside++, leave();
  return unused;
}
static void *look(void *unused) {
  for (long i = 0; i < 60000000; i++)
    hall.looks++;
  return unused;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, walk, 0), pthread_create(&b, 0, look, 0);
  pthread_join(a, 0), pthread_join(b, 0);
}
