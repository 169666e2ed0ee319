// Memory is rounded up to less than the type asks for, as a number.
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

static void *room(size_t size) { return rounded(size, 32); }

struct task *a(void) { return room(sizeof(struct task)); }
