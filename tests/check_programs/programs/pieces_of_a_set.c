// Each thread fills an array of small records that it allocated: nothing says that several have one array.
// no-finding
#include <pthread.h>
#include <stdlib.h>
struct piece { unsigned long length; char *begin; };
struct set { struct piece *pieces; int count; char *last; };
static __attribute__((noinline)) void keep(struct piece *one, char *text) { one->begin = text; }
static __attribute__((noinline)) void found(struct set *all, char *text) {
  keep(&all->pieces[all->count], text);
  all->pieces[all->count].length++;
  if (++all->count == 64) all->count = 0;
}
static void *worker(void *given) {
  struct set *all = malloc(sizeof *all);
  all->pieces = calloc(64, sizeof *all->pieces);
  for (all->count = 0;;) found(all, given);
  return given;
}
int main(void) {
  pthread_t thread[4];
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], 0, worker, "text");
  for (int i = 0; i < 4; i++) pthread_join(thread[i], 0);
}
