// An array of locks, smaller than a line each.
// expect: two-locks-one-line medium shard_lock
#include <pthread.h>
#define SHARDS 16
static pthread_mutex_t shard_lock[SHARDS];
static struct shard {
  unsigned long entries;
} __attribute__((aligned(64))) shard[SHARDS];
static void *worker(void *arg) {
  unsigned long x = (unsigned long)arg;
  for (long i = 0; i < 100000; i++) {
    x = x * 6364136223846793005ul + 1;
    unsigned s = x >> 60;
    pthread_mutex_lock(&shard_lock[s]);
    shard[s].entries++;
    pthread_mutex_unlock(&shard_lock[s]);
  }
  return 0;
}
int main(void) {
  pthread_t t[4];
  for (int i = 0; i < SHARDS; i++)
    pthread_mutex_init(&shard_lock[i], 0);
  for (long i = 0; i < 4; i++)
    pthread_create(&t[i], 0, worker, (void *)i);
  for (long i = 0; i < 4; i++)
    pthread_join(t[i], 0);
  return (int)shard[0].entries;
}
