// What is busy lies at the beginning of each element, fills a line, is all elements', or is each thread's on its own line.
// no-finding
#include <pthread.h>
#include <stdlib.h>

struct worker {
  unsigned long done;
  char name[56];
  const char *why; // set once
};

struct aligned {
  unsigned long done;
  char name[56];
  unsigned long failed;
} __attribute__((aligned(64)));

struct entry {
  unsigned long in;
  long table[7];
  unsigned long out;
};

static struct worker workers[8];
static struct entry entries[16];

static void *run(void *arg) {
  struct worker *mine = arg;
  for (long i = 0; i < 1000000; i++)
    mine->done++;
  mine->why = "end";
  return 0;
}

static void *run_aligned(void *arg) {
  struct aligned *mine = arg;
  for (long i = 0; i < 1000000; i++)
    if (rand() & 1)
      mine->done++;
    else
      mine->failed++;
  return 0;
}

void start(pthread_t *threads, int count) {
  struct aligned *all = aligned_alloc(64, count * sizeof *all);
  for (int i = 0; i < count; i++) {
    pthread_create(&threads[i], 0, run, &workers[i]);
    pthread_create(&threads[count + i], 0, run_aligned, &all[i]);
  }
}

void sum(unsigned long key, int times) {
  for (int i = 0; i < times; i++) {
    entries[(key + i) % 16].in++;
    entries[(key + i) % 16].out++;
  }
}

struct channel {
  unsigned long read;
  char name[56];
  unsigned long written;
};

static struct channel channels[2];

static struct channel *first(void) { return &channels[0]; }

static void *poll_one(void *arg) {
  struct channel *own = arg;
  for (;;) {
    own->read++;
    own->written++;
  }
}

// One thread, so that nobody has the next element.
void start_one(pthread_t *thread) { pthread_create(thread, 0, poll_one, first()); }

// In a list, not in an array: where the next one is depends on the allocator.
struct queue {
  struct queue *next;
  pthread_mutex_t lock;
  unsigned long length;
};

void push(struct queue *first, struct queue *other, int times) {
  struct queue *at = times & 1 ? first : other;
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(&at->lock);
    at->length++;
    pthread_mutex_unlock(&at->lock);
    at = at->next;
  }
}
