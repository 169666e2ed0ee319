// A mutex of one word that its one user seldom finds taken, beside the word
// that another thread looks at for news; PAD parts the two.
#define _GNU_SOURCE
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
static struct {
  OWN atomic_int lock; // 0 free, 1 taken, 2 taken and waited for
  OWN atomic_int news;
  _Alignas(64) long work;
} box;
static void take(void) {
  int seen = 0;
  if (atomic_compare_exchange_strong(&box.lock, &seen, 1))
    return;
  while (atomic_exchange(&box.lock, 2))
    syscall(SYS_futex, &box.lock, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}
static void leave(void) {
  if (atomic_exchange(&box.lock, 0) == 2)
    syscall(SYS_futex, &box.lock, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}
static void *listen(void *arg) {
  long sum = 0;
  while (!atomic_load_explicit(&box.news, memory_order_acquire))
    for (int i = 0; i < 20; i++)
      sum += sum % 7 + i;
  *(long *)arg = sum;
  return arg;
}
int main(void) {
  long heard = 0;
  pthread_t listener;
  pthread_create(&listener, NULL, listen, &heard);
  for (int i = 0; i < 20000000; i++) {
    take();
    box.work += i;
    leave();
  }
  atomic_store(&box.news, 1);
  pthread_join(listener, NULL);
  return heard == 1;
}
