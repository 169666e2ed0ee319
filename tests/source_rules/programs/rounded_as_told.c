// Memory is rounded up to the alignment that a caller, or a variable, asks for; free lists hold what was made so.
// no-finding
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct __attribute__((aligned(64))) task {
  long done;
};
struct block {
  void *start;
  size_t size;
};
struct lists {
  void *kept, *given;
};

size_t as_configured = 64;
extern size_t as_told;
void *take(struct lists *lists, size_t size);

static void *rounded(size_t size, size_t alignment) {
  struct block block;
  block.size = size + sizeof block + alignment;
  block.start = malloc(block.size);
  uintptr_t at =
      ((uintptr_t)block.start + sizeof block + alignment) & ~(alignment - 1);
  *(struct block *)(at - sizeof block) = block;
  return (void *)at;
}

static void *configured(size_t size) { return rounded(size, as_configured); }
static void *told(size_t size) { return aligned_alloc(as_told, size); }
static void *numbered(size_t size) { return rounded(size, 64); }

static void *kept_room(struct lists *lists, size_t size) {
  void *found = lists->kept;
  if (found) {
    lists->kept = *(void **)found;
    return found;
  }
  found = lists->given;
  while (found && !__sync_bool_compare_and_swap(&lists->given, found, NULL))
    found = *(void *volatile *)&lists->given;
  if (!found) {
    void *got = take(lists, size + sizeof(struct block) + 64);
    found =
        (void *)(((uintptr_t)got + sizeof(struct block) + 64) & ~(uintptr_t)63);
  }
  return found;
}

struct task *a(void) { return configured(sizeof(struct task)); }
struct task *b(void) { return told(sizeof(struct task)); }
struct task *c(void) { return numbered(sizeof(struct task)); }
struct task *d(struct lists *lists) {
  return kept_room(lists, sizeof(struct task));
}
