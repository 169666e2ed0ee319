#ifndef CACHE_H
#define CACHE_H
#include <stdatomic.h>
#include <stdint.h>
#include <threads.h>

#define CACHE_PAGES 16

typedef struct page {
    uint32_t key;
    uint32_t color;          /* read by all renderers */
    uint32_t gradient;
    atomic_uint refs;        /* pins and unpins */
    uint64_t loads;
} page;

typedef struct lru {
    page **by_slot;
    uint32_t count;
    uint32_t hand;           /* janitor */
    uint64_t aged;           /* janitor */
    atomic_ulong lookups;    /* renderers */
    uint64_t misses;
} lru;

lru *lru_new(void);
page *lru_pin(lru *c, uint32_t key);
void lru_unpin(page *p);
void lru_age(lru *c);
void lru_free(lru *c);
#endif
