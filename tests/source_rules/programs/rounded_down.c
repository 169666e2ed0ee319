// What a call returns is rounded down: nothing says that it is new, nor where it begins.
// expect: aligned-type-from-malloc low task
#include <stddef.h>
#include <stdint.h>

struct __attribute__((aligned(64))) task {
  long done;
};

void *take(size_t size);

static void *zone_alloc(size_t size) {
  return (void *)((uintptr_t)take(size) & ~(uintptr_t)63);
}

struct task *a(void) { return zone_alloc(sizeof(struct task)); }
