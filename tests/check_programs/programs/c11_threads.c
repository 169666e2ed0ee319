// C11 threads and a mutex of <threads.h>; statistics beside the lock.
// expect: hot-lock-shares-line high table.lock table.lookups
#include <stdatomic.h>
#include <threads.h>
static struct {
  _Alignas(64) mtx_t lock;
  atomic_long lookups;
} table;
static int writer(void *arg) {
  for (int i = 0; i < 1000000; i++) {
    mtx_lock(&table.lock);
    mtx_unlock(&table.lock);
  }
  return 0;
}
static int reader(void *arg) {
  for (int i = 0; i < 1000000; i++)
    atomic_fetch_add_explicit(&table.lookups, 1, memory_order_relaxed);
  return 0;
}
int main(void) {
  thrd_t a, b, c;
  mtx_init(&table.lock, mtx_plain);
  thrd_create(&a, writer, 0);
  thrd_create(&b, writer, 0);
  thrd_create(&c, reader, 0);
  thrd_join(a, 0);
  thrd_join(b, 0);
  thrd_join(c, 0);
  return 0;
}
