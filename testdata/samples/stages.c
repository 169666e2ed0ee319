/* A table of the stages of a pipeline; each thread works at a stage of its own
 * and counts there.  PAD fills a stage up to a line. */
#include <pthread.h>
#include <stdatomic.h>
struct stage {
  const char *name;
  atomic_long items;
#ifdef PAD
  char fill[48];
#endif
};
static struct stage stages[] __attribute__((aligned(64))) = {
    {.name = "parse"}, {.name = "sort"}, {.name = "write"}, {.name = "sync"}};
static void *run(void *arg) {
  struct stage *own = arg;
  for (int i = 0; i < 22000000; i++)
    atomic_fetch_add_explicit(&own->items, 1, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(threads + i, 0, run, stages + 1 + i);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return 0;
}
