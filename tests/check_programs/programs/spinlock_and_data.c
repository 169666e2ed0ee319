// A contended spinlock of the project's own making, beside what only it guards and beside what others read.
// expect: hot-lock-shares-line high pool.lock pool.limit
// expect: aligned-tail-free low pool
#include <pthread.h>
struct pool {
  pthread_spinlock_t lock;
  int limit;
  long used;
};
static struct pool pool __attribute__((aligned(64)));
static void *allocate(void *arg) {
  for (int i = 0; i < 1000000; i++) {
    pthread_spin_lock(&pool.lock);
    pool.used++;
    pthread_spin_unlock(&pool.lock);
  }
  return 0;
}
static void *look(void *arg) {
  long over = 0;
  for (int i = 0; i < 1000000; i++)
    over += i > pool.limit;
  return (void *)over;
}
int main(int argc, char **argv) {
  pthread_spin_init(&pool.lock, 0);
  pool.limit = argc;
  pthread_t a, b, c;
  pthread_create(&a, 0, allocate, 0);
  pthread_create(&b, 0, allocate, 0);
  pthread_create(&c, 0, look, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
  return 0;
}
