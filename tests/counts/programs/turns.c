// Two threads take turns with one record on the heap: the one writes a counter
// in it, then the other reads a limit beside it.  Which turn is whose is told
// by semaphores, so that all numbers are certain.  PAD: on lines of their own.
// BOTH: whoever reads the limit needs the counter.  FRESH: what is
// read is a new record in the same place, which nobody wrote yet.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 3000, ONCE = 100 };

#ifdef PAD
#define LINE __attribute__((aligned(64)))
#else
#define LINE
#endif

struct shared {
  pthread_mutex_t *lock;
  volatile long counter;
  volatile long limit LINE;
};

struct once {
  pthread_mutex_t mutex;
  atomic_int added;
  int text[4];
};

volatile long total __attribute__((aligned(64)));
static struct shared *one;
static struct once *other;
static int *words;
static sem_t turn __attribute__((aligned(64)));
static sem_t back __attribute__((aligned(64)));

static __attribute__((noinline)) void write_counter(struct shared *at) {
  at->counter = at->counter + 1;
}

static __attribute__((noinline)) void read_limit(struct shared *at) {
  total = at->limit;
#ifdef BOTH
  total = at->counter;
#endif
}

static void *writer(void *unused) {
  for (int i = 0; i < TURNS; i++) {
    write_counter(one);
#ifdef FRESH
    free(one);
    one = malloc(sizeof *one);
#endif
    sem_post(&turn);
    sem_wait(&back);
  }
  return unused;
}

static void *reader(void *unused) {
  for (int i = 0; i < TURNS; i++) {
    sem_wait(&turn);
    read_limit(one);
    sem_post(&back);
  }
  return unused;
}

static __attribute__((noinline)) void alone(int length) {
  for (int i = 0; i < ONCE; i++) {
    pthread_mutex_lock(&other->mutex);
    other->added++;
    pthread_mutex_unlock(&other->mutex);
    memcpy(other->text, words, length);
  }
}

int main(int argc, char **argv) {
  pthread_t threads[2];
  (void)argv;
  if (posix_memalign((void **)&one, 64, sizeof *one))
    return 1;
  words = calloc(4, sizeof *words);
  other = calloc(1, sizeof *other);
  pthread_mutex_init(&other->mutex, NULL);
  alone(argc > 0 ? 16 : 8);
  sem_init(&turn, 0, 0);
  sem_init(&back, 0, 0);
  pthread_create(&threads[0], NULL, writer, NULL);
  pthread_create(&threads[1], NULL, reader, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
