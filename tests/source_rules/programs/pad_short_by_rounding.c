// The size of the body is rounded up, the padding is not: the next member asks for less and begins on the same line.
// expect: pad-misses-line medium table.pad
#include <pthread.h>

#define CACHELINE 64
#define BODY                                                                                                           \
  unsigned magic;                                                                                                      \
  unsigned version;                                                                                                    \
  pthread_mutex_t lock;                                                                                                \
  unsigned long last;                                                                                                  \
  unsigned count

struct body {
  BODY;
};

struct table {
  BODY;
  char pad[CACHELINE - sizeof(struct body)];
  unsigned waiters;
};

void enter(struct table *table) {
  pthread_mutex_lock(&table->lock);
  table->count++;
  pthread_mutex_unlock(&table->lock);
}
