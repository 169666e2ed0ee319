// What a library keeps of an object beside the number of its references, which it looks at: no ends of a queue.
// no-finding
#include <stdatomic.h>
#include <stdlib.h>

struct object {
  atomic_int references;
  int state;
};

struct object *object_new(void) {
  struct object *object = calloc(1, sizeof *object);
  if (object != NULL) atomic_init(&object->references, 1);
  return object;
}

struct object *object_get(struct object *object) {
  atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
  return object;
}

void object_put(struct object *object) {
  atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel);
}

void object_advance(struct object *object) {
  if (atomic_load_explicit(&object->references, memory_order_relaxed) > 0) object->state = object->state * 2 + 1;
}
