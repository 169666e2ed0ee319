// One element for each thread, 72 bytes each: the last counter of one beside the first of the next.
// expect: thread-elements-meet medium worker
// expect: thread-elements-meet medium slot
#include <pthread.h>
#include <stdlib.h>

struct worker {
  unsigned long done;
  char name[56];
  unsigned long failed;
};

static void *run(void *arg) {
  struct worker *mine = arg;
  for (long i = 0; i < 1000000; i++)
    if (rand() & 1)
      mine->done++;
    else
      mine->failed++;
  return 0;
}

void start(pthread_t *threads, int count) {
  struct worker *all = calloc(count, sizeof *all);
  for (int i = 0; i < count; i++)
    pthread_create(&threads[i], 0, run, &all[i]);
}

struct slot {
  unsigned long in;
  long table[8];
  unsigned long out;
};

static struct slot slots[16];
static __thread unsigned self;

void count(int times) {
  for (int i = 0; i < times; i++) {
    slots[self].in++;
    slots[self].out++;
  }
}

// What each thread is started with is told by a function.
// expect: thread-elements-meet medium cores
struct core {
  unsigned long handled;
  char name[56];
  unsigned long refused;
};

static struct core cores[16];

static struct core *core_at(int number) { return &cores[number]; }

static void *serve(void *arg) {
  struct core *own = arg;
  for (;;) {
    own->handled++;
    own->refused++;
  }
}

void start_cores(pthread_t *threads) {
  for (int i = 0; i < 16; i++)
    pthread_create(&threads[i], 0, serve, core_at(i));
}

// Behind a lock each, and taken one at a time.
// expect: thread-elements-meet medium shard
struct shard {
  pthread_mutex_t lock;
  unsigned long entries;
  void *first;
};

static struct shard *shards;

void add(unsigned long key, void **entry) {
  struct shard *shard = &shards[key % 16];
  for (int i = 0; i < 4; i++) {
    pthread_mutex_lock(&shard->lock);
    *entry = shard->first;
    shard->first = entry;
    shard->entries++;
    pthread_mutex_unlock(&shard->lock);
  }
}
