// The same barrier, but in each round both threads add to what is theirs; PAD
// parts them.
#include <pthread.h>
#ifdef PAD
#define APART __attribute__((aligned(64)))
#else
#define APART
#endif
typedef struct round_state {
  APART volatile long evens;
  APART volatile long odds;
} round_state;
static __attribute__((aligned(64))) round_state state;
static pthread_barrier_t line;
static void *count_evens(void *unused) {
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 1500000; i += 1)
      state.evens += 2;
    pthread_barrier_wait(&line);
  }
  return unused;
}
static void *count_odds(void *unused) {
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 1500000; i += 1)
      state.odds += 1;
    pthread_barrier_wait(&line);
  }
  return unused;
}
int main(void) {
  pthread_t evens, odds;
  pthread_barrier_init(&line, NULL, 2);
  pthread_create(&evens, NULL, count_evens, NULL);
  pthread_create(&odds, NULL, count_odds, NULL);
  pthread_join(evens, NULL);
  pthread_join(odds, NULL);
}
