// Memory is rounded up to less than the type asks for, as what a variable begins as.
// expect: aligned-type-from-malloc medium task
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct __attribute__((aligned(64))) task {
  long done;
};

static void *rounded(size_t size, size_t alignment) {
  void *start = malloc(size + alignment);
  return (void *)(((uintptr_t)start + alignment) & ~(alignment - 1));
}

size_t as_configured = 16;
static void *room(size_t size) { return rounded(size, as_configured); }

struct task *a(void) { return room(sizeof(struct task)); }
