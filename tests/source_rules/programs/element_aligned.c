// The attribute is on the element; or the array is a vector, a buffer, a table that is big, or under one lock.
// no-finding
#include <pthread.h>
#include <stddef.h>

struct counter {
  long hits;
} __attribute__((aligned(64)));

struct small {
  long hits;
};

static struct counter counters[16];
static float vector[64] __attribute__((aligned(64)));
static char buffer[4096] __attribute__((aligned(64)));
static struct small buckets[4096] __attribute__((aligned(64)));
static struct small guarded[16] __attribute__((aligned(64)));
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void count(size_t self, float x) {
  counters[self].hits++;
  vector[self] += x;
  buffer[self]++;
  buckets[self].hits++;
  pthread_mutex_lock(&lock);
  guarded[self].hits++;
  pthread_mutex_unlock(&lock);
}
