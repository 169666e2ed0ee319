#ifndef POOL_H
#define POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct block {
  struct block *next;
  size_t size;
};

extern pthread_mutex_t pool_lock;
extern atomic_ulong blocks_out;
extern struct block *free_blocks[16];
extern unsigned long refills;

void *pool_take(size_t size);
void pool_give(void *memory);
int pool_start(int threads);
void pool_stop(void);
const char *pool_error(int code);
struct block *fresh(size_t size);
void note_take(size_t size);

#endif
