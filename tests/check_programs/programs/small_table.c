// A small table, read at any index, beside a counter: each read is of that line.
// expect: written-beside-read-mostly high t.weight t.events
// expect: aligned-tail-free low t
#include <pthread.h>
#include <stdatomic.h>
struct {
  unsigned char weight[16];
  atomic_long events;
} t __attribute__((aligned(64))) = {{1, 2, 3, 4}, 0};
static void *score(void *a) {
  long s = 0;
  for (long i = 0; i < 1000000; i++) {
    s += t.weight[(i * (long)a) & 15];
    __asm__ volatile("" ::: "memory");
  }
  return (void *)s;
}
static void *count(void *a) {
  for (long i = 0; i < 1000000; i++)
    atomic_fetch_add(&t.events, 1);
  return 0;
}
int main(int argc, char **argv) {
  pthread_t a, b;
  pthread_create(&a, 0, score, (void *)(long)argc);
  pthread_create(&b, 0, count, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
