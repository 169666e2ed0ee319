#include "pool.h"

static unsigned long largest[2];
atomic_ulong blocks_out;
static _Thread_local unsigned long mine_taken;

void note_take(size_t size) {
  atomic_fetch_add(&blocks_out, 1);
  if (++mine_taken % 512 == 0 && size > largest[0])
    largest[0] = size;
}
