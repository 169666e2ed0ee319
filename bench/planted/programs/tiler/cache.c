#include "cache.h"
#include <stdlib.h>
#include <string.h>

lru *lru_new(void)
{
    lru *c = aligned_alloc(64, 64);
    memset(c, 0, sizeof *c);
    c->by_slot = calloc(CACHE_PAGES, sizeof *c->by_slot);
    c->count = CACHE_PAGES;
    for (uint32_t i = 0; i < CACHE_PAGES; i++) {
        page *p = aligned_alloc(64, 64);
        memset(p, 0, sizeof *p);
        p->key = i;
        p->color = i * 0x10101u;
        p->gradient = i | 1;
        p->loads = 1;
        c->by_slot[i] = p;
    }
    return c;
}

page *lru_pin(lru *c, uint32_t key)
{
    page *p = c->by_slot[key % c->count];
    atomic_fetch_add_explicit(&c->lookups, 1, memory_order_relaxed);
    if (!p) {
        c->misses++;
        return NULL;
    }
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_acquire);
    return p;
}

void lru_unpin(page *p)
{
    atomic_fetch_sub_explicit(&p->refs, 1, memory_order_release);
}

void lru_age(lru *c)
{
    uint32_t h = c->hand + 1;
    if (h >= c->count)
        h = 0;
    c->hand = h;
    if (c->by_slot[h])
        c->aged++;
}

void lru_free(lru *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        free(c->by_slot[i]);
    free(c->by_slot);
    free(c);
}
