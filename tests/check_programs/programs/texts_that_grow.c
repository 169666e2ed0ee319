// Near miss of queues_behind_a_table: a text of an array is handed to who is called by name.
// no-finding
#include <pthread.h>
#include <stdlib.h>
struct text { unsigned long length, parts; char *begin; };
struct set { struct text *texts; int count; };
static __attribute__((noinline)) void append(struct text *one, unsigned long more) {
  one->length += more;
  one->parts++;
}
static void *worker(void *given) {
  struct set *all = malloc(sizeof *all);
  all->texts = calloc(64, sizeof *all->texts);
  for (all->count = 0;; all->count++) append(&all->texts[all->count & 63], (unsigned long)given);
  return given;
}
int main(void) {
  pthread_t thread[4];
  for (long i = 0; i < 4; i++) pthread_create(&thread[i], 0, worker, (void *)(i + 1));
  for (int i = 0; i < 4; i++) pthread_join(thread[i], 0);
}
