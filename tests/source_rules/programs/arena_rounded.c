// An arena whose cursor is rounded up and moved on: each call gets another part, which begins on a line.
// no-finding
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define UP(address, to) (((uintptr_t)(address) + (to)-1) & ~((uintptr_t)(to)-1))

struct counter {
  _Alignas(64) long hits;
};
struct arena {
  uintptr_t next, end;
};

static char *cursor, *end;
static struct arena arena;

static void *of_statics(size_t size) {
  char *found = (char *)UP(cursor, 64);
  if (found + size > end)
    return NULL;
  cursor = found + size;
  return found;
}

static void *of_a_member(struct arena *from, size_t size) {
  uintptr_t found = UP(from->next, 64);
  if (found + size > from->end)
    return NULL;
  from->next = found + size;
  return (void *)found;
}

static void *by_steps(size_t size) {
  char *found = (char *)UP(cursor, 64);
  cursor += UP(size, 64) + 64;
  return found;
}

void begin(size_t size) {
  cursor = malloc(size);
  end = cursor + size;
  arena.next = (uintptr_t)malloc(size);
  arena.end = arena.next + size;
}
struct counter *a(void) { return of_statics(sizeof(struct counter)); }
struct counter *b(void) { return of_a_member(&arena, sizeof(struct counter)); }
struct counter *c(void) { return by_steps(sizeof(struct counter)); }
