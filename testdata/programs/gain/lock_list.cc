// A mutex that is often taken, and beside it the head of a list that scans look
// at without the lock.
//
// The lock itself goes from thread to thread in both builds: what separation
// saves is the scans.
#include "apart.h"

struct Entry {
  Entry *next;
  uint64_t value;
};

static struct {
  ONE_LINE pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  APART Entry *volatile first = nullptr;
} cache;

static Entry entries[2][8];

static uint64_t scan(uint64_t value) {
  for (int row = 0; row < 60; row++) {
    value = compute(value, 2);
    if (cache.first == nullptr)
      value++;
  }
  return value;
}

static void *serve(void *number) {
  Entry *own = &entries[number != nullptr][0];
  uint64_t value = 1;
  for (int statement = 0; statement < 1200000; statement++) {
    pthread_mutex_lock(&cache.lock);
    own->next = cache.first == own ? own->next : cache.first;
    if (statement % 16 == 0)
      cache.first = own;
    pthread_mutex_unlock(&cache.lock);
    value = scan(value);
  }
  own->value = value;
  return nullptr;
}

int main() {
  run_threads(serve, 2);
  printf("%llx\n", static_cast<unsigned long long>(entries[0][0].value ^
                                                   entries[1][0].value));
}
