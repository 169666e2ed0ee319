// A bucket of tokens that all threads take from: they wait for the tokens
// themselves, and what stands beside them is used with them.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
static struct {
  _Alignas(64) atomic_long tokens;
  long burst;
  atomic_long refills;
} bucket = {1000, 1000, 0};
static bool take(long wanted) {
  long there = atomic_load(&bucket.tokens);
  for (;;) {
    bool empty = there < wanted;
    long left = empty ? bucket.burst : there - wanted;
    if (!atomic_compare_exchange_weak(&bucket.tokens, &there, left))
      continue;
    if (empty)
      atomic_fetch_add(&bucket.refills, 1);
    return !empty;
  }
}
static void *spend(void *wanted) {
  for (int i = 0; i < 8000000; i++)
    take((long)wanted);
  return NULL;
}
int main(void) {
  pthread_t spenders[2];
  for (long i = 0; i < 2; i++)
    pthread_create(&spenders[i], NULL, spend, (void *)(i + 1));
  for (int i = 0; i < 2; i++)
    pthread_join(spenders[i], NULL);
  return bucket.refills ? 0 : 1;
}
