#include "dns.h"
#include <stdio.h>
#include <string.h>

static struct cache_entry cache[CACHE_SLOTS];

/* response rate limiting: who asks too much gets nothing */
struct rrl_slot {
    _Atomic uint32_t balance;
    uint32_t         last_client;
};
static struct rrl_slot rrl[RRL_SLOTS];

uint32_t name_hash(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

void cache_fill(void)
{
    char name[NAME_MAX_LEN];
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "host%d.example.net", i);
        uint32_t h = name_hash(name);
        struct cache_entry *e = &cache[h % CACHE_SLOTS];
        strcpy(e->name, name);
        e->hash = h;
        e->addr = 0x0a000000u + (uint32_t)i;
        e->ttl = opts.default_ttl;
    }
}

bool cache_lookup(const char *name, uint32_t *addr)
{
    uint32_t h = name_hash(name);
    struct cache_entry *e = &cache[h % CACHE_SLOTS];
    if (e->hash != h || strcmp(e->name, name) != 0)
        return false;
    atomic_fetch_add_explicit(&e->hits, 1, memory_order_relaxed);
    *addr = e->addr;
    return true;
}

bool rrl_allow(uint32_t client)
{
    struct rrl_slot *s = &rrl[client % RRL_SLOTS];
    uint32_t n = atomic_fetch_add_explicit(&s->balance, 1, memory_order_relaxed);
    return n < opts.rrl_limit;
}
