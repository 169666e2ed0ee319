// Arenas of an allocator: each thread is given one of an array, takes its lock and counts in it.
// about: arenas arena_t arena_s
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define NARENAS 16
#define NCLASSES 4

typedef struct block_s {
  struct block_s *next;
} block_t;

typedef struct arena_s {
  pthread_spinlock_t lock;
  uint32_t threads;
  uint64_t nmalloc;
  uint64_t ndalloc;
  block_t *free_blocks[NCLASSES];
#ifdef FIXED
} __attribute__((aligned(64))) arena_t;
#else
} arena_t;
#endif

#ifdef EDIT
static unsigned opt_decay;
#endif
static arena_t arenas[NARENAS];
static atomic_uint next_arena;
static _Thread_local arena_t *my_arena;

extern void *pages_map(size_t size);

static arena_t *arena_choose(void) {
  if (my_arena == NULL) {
    my_arena = &arenas[atomic_fetch_add(&next_arena, 1) % NARENAS];
    __atomic_fetch_add(&my_arena->threads, 1, __ATOMIC_RELAXED);
  }
  return my_arena;
}

static unsigned class_of(size_t size) { return size <= 32 ? 0 : size <= 128 ? 1 : size <= 512 ? 2 : 3; }

__attribute__((constructor)) static void arenas_boot(void) {
  for (int i = 0; i < NARENAS; i++)
    pthread_spin_init(&arenas[i].lock, PTHREAD_PROCESS_PRIVATE);
}

void *my_malloc(size_t size) {
  arena_t *arena = arena_choose();
  unsigned class = class_of(size);
  pthread_spin_lock(&arena->lock);
  block_t *block = arena->free_blocks[class];
  if (block != NULL)
    arena->free_blocks[class] = block->next;
  arena->nmalloc++;
  pthread_spin_unlock(&arena->lock);
  return block != NULL ? block : pages_map(size);
}

void my_free(void *pointer, size_t size) {
  arena_t *arena = arena_choose();
  unsigned class = class_of(size);
  block_t *block = pointer;
  pthread_spin_lock(&arena->lock);
  block->next = arena->free_blocks[class];
  arena->free_blocks[class] = block;
  arena->ndalloc++;
  pthread_spin_unlock(&arena->lock);
}
