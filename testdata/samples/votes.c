// Every thread adds to the same count of votes, which has a line to itself.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static struct {
  _Alignas(128) atomic_long votes;
  _Alignas(128) long voters;
} ballot = {.voters = 2};
static void *vote(void *arg) {
  unsigned long seed = (unsigned long)arg;
  for (long i = 0; i < 60000000; i++) {
    seed = seed * 6364136223846793005ul + 1;
    atomic_fetch_add_explicit(&ballot.votes, (long)(seed >> 63) + ballot.voters, memory_order_relaxed);
  }
  return NULL;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, vote, (void *)1ul);
  pthread_create(&two, NULL, vote, (void *)2ul);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  printf("%ld\n", atomic_load(&ballot.votes));
  return 0;
}
