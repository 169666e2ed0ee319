// Each thread has a context, which a function finds in thread-local storage, or in a table at its first call. What
// threads do to contexts of their own shares no line within one, whichever member a function uses at whichever index;
// the ends of two contexts do.
// expect: thread-elements-meet medium contexts
#include <pthread.h>
#include <stdlib.h>

struct context {
  int used;
  unsigned long puts, gets, bytes;
  void *cache[4];
  unsigned long misses;
};
static struct context contexts[16];
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct context *mine;

// The same where an element has lines of its own.
struct room {
  unsigned long enters;
  unsigned long leaves;
  unsigned long kinds[4];
} __attribute__((aligned(64)));
static struct room rooms[16];
static __thread struct room *my_room;

static struct context *claim(void) {
  pthread_mutex_lock(&contexts_lock);
  for (int i = 0; i < 16; i++)
    if (!contexts[i].used) {
      contexts[i].used = 1;
      mine = &contexts[i];
      my_room = &rooms[i];
      break;
    }
  pthread_mutex_unlock(&contexts_lock);
  return mine;
}

static struct context *context(void) {
  struct context *found = mine;
  return found ? found : claim();
}

static struct room *room(void) {
  if (!my_room)
    claim();
  return my_room;
}

static void *take(unsigned size) {
  struct context *own = context();
  own->gets++;
  room()->enters++;
  room()->kinds[size & 3]++;
  void *kept = own->cache[size & 3];
  if (kept) {
    own->cache[size & 3] = NULL;
    return kept;
  }
  own->misses++;
  return malloc(size);
}

static void give(void *block, unsigned size) {
  struct context *own = context();
  own->puts++;
  own->bytes += size;
  room()->leaves++;
  if (!own->cache[size & 3])
    own->cache[size & 3] = block;
  else
    free(block);
}

static void *work(void *seed) {
  unsigned state = (unsigned)(unsigned long)seed;
  for (;;) {
    state = state * 1103515245u + 12345u;
    unsigned size = 16 + (state >> 28);
    char *block = take(size);
    block[0] = (char)state;
    give(block, size);
  }
  return NULL;
}

int main(void) {
  pthread_t thread;
  for (unsigned long i = 0; i < 4; i++)
    pthread_create(&thread, NULL, work, (void *)i);
  pthread_join(thread, NULL);
  return 0;
}
