// Memory whose start is rounded up, whichever way, and what declarations promise.
// no-finding
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#define UP(address, to) (((uintptr_t)(address) + (to)-1) / (to) * (to))

struct counter {
  _Alignas(64) long hits;
};

static void *masked(size_t size) {
  char *all = malloc(size + 64 + sizeof(void *));
  char *start = (char *)(((uintptr_t)all + sizeof(void *) + 63) & ~(uintptr_t)63);
  ((void **)start)[-1] = all;
  return start;
}

static void *divided(size_t size) {
  char *all = malloc(size + 64);
  return (void *)UP(all, 64);
}

static void *filled_up(size_t size) {
  uintptr_t at = (uintptr_t)malloc(size + 64);
  if (at % 64)
    at += 64 - at % 64;
  return (void *)at;
}

void *pool_alloc(size_t size) __attribute__((malloc, assume_aligned(64)));
void *pool_alloc_at(size_t size, size_t to) __attribute__((malloc, alloc_align(2)));
void *other_alloc(size_t size);

struct counter *pages(void) { return valloc(sizeof(struct counter)); }
struct counter *a(void) { return masked(sizeof(struct counter)); }
struct counter *b(void) { return divided(sizeof(struct counter)); }
struct counter *c(void) { return filled_up(sizeof(struct counter)); }
struct counter *d(void) { return pool_alloc(sizeof(struct counter)); }
struct counter *e(void) { return pool_alloc_at(sizeof(struct counter), 64); }
struct counter *f(void) { return __builtin_assume_aligned(other_alloc(sizeof(struct counter)), 64); }
