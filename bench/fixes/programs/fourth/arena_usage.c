// An arena: blocks are taken under its lock, which stands beside counts that every user changes without it.
// about: used_bytes requests
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#ifdef FIXED
#define APART _Alignas(64)
#else
#define APART
#endif

struct block {
  struct block *next;
};

struct arena {
  pthread_mutex_t lock;
  struct block *free_blocks;
  size_t blocks;
#ifdef EDIT
  size_t limit;
#endif
  APART atomic_size_t used_bytes;
  atomic_size_t requests;
};

extern void *bump(struct arena *arena, size_t bytes);

void *arena_take(struct arena *arena, size_t bytes) {
  atomic_fetch_add_explicit(&arena->requests, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&arena->used_bytes, bytes, memory_order_relaxed);
  return bump(arena, bytes);
}

void arena_give(struct arena *arena, size_t bytes) {
  atomic_fetch_sub_explicit(&arena->used_bytes, bytes, memory_order_relaxed);
}

struct block *arena_refill(struct arena *arena) {
  pthread_mutex_lock(&arena->lock);
  struct block *block = arena->free_blocks;
  if (block) {
    arena->free_blocks = block->next;
    arena->blocks--;
  }
  pthread_mutex_unlock(&arena->lock);
  return block;
}

struct arena *arena_new(void) {
#ifdef FIXED
  struct arena *arena = aligned_alloc(64, sizeof(*arena));
#else
  struct arena *arena = malloc(sizeof(*arena));
#endif
  if (!arena)
    return NULL;
  pthread_mutex_init(&arena->lock, NULL);
  arena->free_blocks = NULL;
  arena->blocks = 0;
  atomic_init(&arena->used_bytes, 0);
  atomic_init(&arena->requests, 0);
  return arena;
}
