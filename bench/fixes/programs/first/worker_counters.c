// Counters of the workers of a scanner, in one array from calloc.
// about: counters
#include <pthread.h>
#include <stdlib.h>

struct counters {
  unsigned long files, matches, bytes;
#ifdef EDIT
  unsigned long skipped;
#endif
}
#ifdef FIXED
__attribute__((aligned(64)))
#endif
;

struct worker {
  pthread_t thread;
  int id;
  struct counters *counters;
};

extern char *next_file(size_t *size);
extern int match(const char *text, size_t size);
static struct counters *all;

static void *scan(void *arg) {
  struct worker *w = arg;
  size_t size;
  char *text;

  while ((text = next_file(&size)) != NULL) {
    w->counters->files++;
    w->counters->bytes += size;
    if (match(text, size))
      w->counters->matches++;
  }
  return NULL;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 4;
  struct worker *workers = calloc(n, sizeof *workers);
#ifdef FIXED
  all = aligned_alloc(64, n * sizeof *all);
#else
  all = calloc(n, sizeof *all);
#endif
  for (int i = 0; i < n; i++) {
    workers[i].id = i;
    workers[i].counters = &all[i];
    pthread_create(&workers[i].thread, NULL, scan, &workers[i]);
  }
  unsigned long matches = 0;
  for (int i = 0; i < n; i++) {
    pthread_join(workers[i].thread, NULL);
    matches += all[i].matches;
  }
  return matches == 0;
}
