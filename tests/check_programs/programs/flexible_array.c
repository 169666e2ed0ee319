// Buckets behind the head of a table, which are as long as the head by chance: there is one head.
// no-finding
#include <pthread.h>
#include <stdlib.h>

struct entry {
  struct entry *next;
  long key;
};
struct bucket {
  struct entry *first, *last;
};
struct table {
  long checked;
  long length;
  struct bucket buckets[];
};
static struct table *old, *now;

void expand(long length, long time) {
  struct table *made = calloc(1, sizeof(struct table) + length * sizeof(struct bucket));
  made->length = length;
  old = now;
  if (old) {
    for (int i = 0; i < 2; i++)
      old->checked += time;
    old->length--;
  }
  now = made;
}

static struct bucket *bucket_of(struct table *t, unsigned hash) { return &t->buckets[hash % t->length]; }

struct entry *find(unsigned hash) { return bucket_of(now, hash)->first; }

static void *serve(void *unused) {
  for (unsigned i = 0; i < 1000000; i++)
    if (!find(i))
      expand(i, i);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  expand(64, 0);
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, serve, 0);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
  return 0;
}
