// Locks of the library in an array that nobody takes there: those that are taken are made one by one.
// no-finding
#include <pthread.h>
#include <stdlib.h>

struct lock {
  unsigned made;
  void *inner;
};

static pthread_mutex_t table[64];

void make(struct lock *one) {
  for (int i = 0; i < 64; i++)
    pthread_mutex_init(&table[i], NULL);
  one->inner = malloc(sizeof(pthread_mutex_t));
  pthread_mutex_init((pthread_mutex_t *)one->inner, NULL);
}

void add(struct lock *one, long *sum) {
  for (int i = 0; i < 1000; i++) {
    pthread_mutex_lock((pthread_mutex_t *)one->inner);
    ++*sum;
    pthread_mutex_unlock((pthread_mutex_t *)one->inner);
  }
}
