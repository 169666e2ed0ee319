// An arena whose cursor is rounded up by less than the type asks for.
// expect: aligned-type-from-malloc medium counter
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct counter {
  _Alignas(64) long hits;
};

static char *cursor;

static void *zone_alloc(size_t size) {
  char *found = (char *)(((uintptr_t)cursor + 31) & ~(uintptr_t)31);
  cursor = found + size;
  return found;
}

void begin(size_t size) { cursor = malloc(size); }
struct counter *a(void) { return zone_alloc(sizeof(struct counter)); }
