// Objects of 24 bytes, allocated one by one for threads that start there.
// expect: thread-elements-meet medium context
#include <pthread.h>
#include <stdlib.h>

struct context {
  unsigned long blocks;
  unsigned long matches;
  int number;
};

extern int next(void);

static void *scan(void *argument) {
  struct context *mine = argument;
  for (int found; (found = next()) >= 0;) {
    mine->blocks++;
    mine->matches += found;
  }
  return 0;
}

void start(pthread_t *threads, int count) {
  for (int i = 0; i < count; i++) {
    struct context *one = malloc(sizeof *one);
    one->number = i;
    pthread_create(&threads[i], 0, scan, one);
  }
}
