// Threads of a scanner, each started with a small context from malloc in which it counts.
// about: scan_context
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS 8

struct scan_context {
  uint64_t blocks;
  uint64_t matches;
#ifdef EDIT
  uint32_t errors;
#endif
}
#ifdef FIXED
__attribute__((aligned(64)))
#endif
;

extern const unsigned char *next_block(void);
extern int matches(const unsigned char *block);

static void *scan(void *argument) {
  struct scan_context *context = argument;
  const unsigned char *block;
  while ((block = next_block())) {
    context->blocks++;
    if (matches(block))
      context->matches++;
  }
  return NULL;
}

int main(void) {
  struct scan_context *contexts[THREADS];
  pthread_t threads[THREADS];
  uint64_t found = 0;

  for (int i = 0; i < THREADS; i++) {
#ifdef FIXED
    contexts[i] = aligned_alloc(64, sizeof(struct scan_context));
#else
    contexts[i] = malloc(sizeof(struct scan_context));
#endif
    contexts[i]->blocks = contexts[i]->matches = 0;
    pthread_create(&threads[i], NULL, scan, contexts[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    found += contexts[i]->matches;
  }
  return found == 0;
}
