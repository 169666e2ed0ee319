// Of a library's list each look-up notes what it found last, which all others load by an atomic, beside the first of
// the list, which is stored by an atomic now and then and followed at each look-up.
// expect: written-beside-read-mostly medium table.last table.first
#include <stddef.h>

struct block {
  unsigned long start, size;
  struct block *next;
};
static struct {
  struct block *last;
  struct block *first;
} table;

static struct block *find(unsigned long address) {
  struct block *block = __atomic_load_n(&table.last, __ATOMIC_ACQUIRE);
  if (block == NULL || address - block->start >= block->size) {
    for (block = __atomic_load_n(&table.first, __ATOMIC_ACQUIRE); block != NULL; block = block->next)
      if (address - block->start < block->size) break;
  }
  table.last = block;
  return block;
}

unsigned long sum_of(unsigned long *const *rows, int count, int width) {
  unsigned long sum = 0;
  for (int i = 0; i < count; i++)
    for (int k = 0; k < width; k++) {
      struct block *block = find(rows[i][k]);
      sum += block == NULL ? 0 : block->start;
    }
  return sum;
}

static int count_below(unsigned long address) {
  int count = 0;
  for (struct block *block = __atomic_load_n(&table.first, __ATOMIC_ACQUIRE); block != NULL; block = block->next)
    count += block->start < address;
  return count;
}

int count_of(const unsigned long *below, int bounds, int times) {
  int count = 0;
  for (int k = 0; k < times; k++)
    for (int i = 0; i < bounds; i++) count += count_below(below[i]) > k;
  return count;
}
void add(struct block *block) {
  block->next = table.first;
  __atomic_store_n(&table.first, block, __ATOMIC_RELEASE);
}
