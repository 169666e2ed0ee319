// The size of the body is rounded up, the padding is not: the next member begins on a line by its own alignment.
// no-finding
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
  pthread_mutex_t writer;
  char pad2[CACHELINE - sizeof(pthread_mutex_t)];
  long slots[8];
};

void enter(struct table *table) {
  pthread_mutex_lock(&table->lock);
  table->count++;
  pthread_mutex_unlock(&table->lock);
}
