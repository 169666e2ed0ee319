// A library by the name of a known allocator, with one that is slow: it looks
// at all of its size classes each time.
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
static volatile size_t classes[256];

static void choose(size_t size) {
  for (int i = 0; i < 256 && classes[i] <= size; i++)
    ;
}

void *malloc(size_t size) {
  choose(size);
  return __libc_malloc(size);
}

void free(void *memory) {
  choose(1);
  __libc_free(memory);
}
