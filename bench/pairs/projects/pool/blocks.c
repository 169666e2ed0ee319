#include "pool.h"
#include <stdlib.h>

pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
char pool_name[64];
struct block *free_blocks[16];
unsigned long refills;

static unsigned bin_of(size_t size) {
  unsigned bin = 0;
  while (size > 16 && bin < 15) {
    size >>= 1;
    ++bin;
  }
  return bin;
}

struct block *fresh(size_t size) {
  ++refills;
  struct block *made = malloc(sizeof *made + ((size_t)16 << bin_of(size)));
  if (made)
    made->size = size;
  return made;
}

void *pool_take(size_t size) {
  unsigned bin = bin_of(size);
  pthread_mutex_lock(&pool_lock);
  struct block *found = free_blocks[bin];
  if (found)
    free_blocks[bin] = found->next;
  else
    found = fresh(size);
  pthread_mutex_unlock(&pool_lock);
  if (!found)
    return NULL;
  note_take(size);
  return found + 1;
}

void pool_give(void *memory) {
  struct block *block = (struct block *)memory - 1;
  unsigned bin = bin_of(block->size);
  pthread_mutex_lock(&pool_lock);
  block->next = free_blocks[bin];
  free_blocks[bin] = block;
  pthread_mutex_unlock(&pool_lock);
  atomic_fetch_sub(&blocks_out, 1);
}
