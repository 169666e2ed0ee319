// An arena that hands out what follows what it handed out before.
// expect: aligned-type-from-malloc low counter
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct counter {
  _Alignas(64) long hits;
};

static char *cursor;

static void *zone_alloc(size_t size) {
  char *found = cursor;
  cursor = found + size;
  return found;
}

void begin(size_t size) { cursor = malloc(size); }
struct counter *a(void) { return zone_alloc(sizeof(struct counter)); }
