// Elements with a lock each, whose ends are set up before threads start: none of these meets another one there.
// no-finding
#include <pthread.h>
#include <stdlib.h>
#define SHARDS 64
struct shard {
  pthread_mutex_t lock;
  unsigned long entries;
  char spare[64];
  unsigned long created;
};
static struct shard *shards;
static void set_up(int shard_count) {
  shards = calloc(shard_count, sizeof *shards);
  for (int i = 0; i < shard_count; i++) {
    pthread_mutex_init(&shards[i].lock, 0);
    shards[i].created = i;
  }
}
static void *work(void *a) {
  unsigned long key = (unsigned long)a;
  for (;;) {
    key = key * 6364136223846793005ul + 1442695040888963407ul;
    struct shard *one = &shards[key >> 58];
    pthread_mutex_lock(&one->lock);
    one->entries++;
    pthread_mutex_unlock(&one->lock);
  }
  return 0;
}
int main(void) {
  pthread_t t[4];
  set_up(SHARDS);
  for (long i = 0; i < 4; i++)
    pthread_create(&t[i], 0, work, (void *)i);
  for (long i = 0; i < 4; i++)
    pthread_join(t[i], 0);
  return 0;
}
