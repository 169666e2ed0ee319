// Objects of a slab that hands them out in a row, one for each thread; PAD
// makes an object as large as a line.
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
struct object {
  volatile unsigned hits;
  unsigned kind;
#ifdef PAD
  char rest[56];
#endif
};
struct slab {
  struct object *objects;
  size_t used;
};
static struct slab new_slab(void) {
  void *room = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return (struct slab){room, 0};
}
static struct object *take(struct slab *from, unsigned kind) {
  struct object *o = &from->objects[from->used++];
  o->kind = kind;
  return o;
}
static void *use(void *arg) {
  struct object *o = arg;
  for (int i = 0; i < 300000000; i++)
    o->hits += o->kind;
  return NULL;
}
int main(void) {
  struct slab slab = new_slab();
  pthread_t t[2];
  for (unsigned k = 0; k < 2; k++)
    pthread_create(&t[k], NULL, use, take(&slab, k + 1));
  for (int k = 0; k < 2; k++)
    pthread_join(t[k], NULL);
  return 0;
}
