#include "kv.h"
#include <stdlib.h>
#include <string.h>

static uint64_t hash_seed = 0x9e3779b97f4a7c15ull;
static _Atomic uint64_t evictions = 1;
static uint64_t evict_races;

uint32_t settings_item_max = 400;
uint32_t settings_ttl = 1000000;
_Atomic uint64_t cas_unique = 1;
const char *settings_listen = "127.0.0.1:11211";

void kv_set_seed(uint64_t seed) { hash_seed = seed | 1; }

uint64_t kv_hash(const char *key, size_t n)
{
    uint64_t h = hash_seed;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)key[i]) * 0x100000001b3ull;
    return h ^ (h >> 29);
}

cache_t *cache_create(uint32_t max_items)
{
    cache_t *c = calloc(1, sizeof *c);
    c->shards = calloc(NSHARDS, sizeof(shard_t));
    c->nshards = NSHARDS;
    c->max_items = max_items;
    c->now = 1;
    pthread_mutex_init(&c->lru_lock, NULL);
    for (uint32_t i = 0; i < c->nshards; i++) {
        pthread_mutex_init(&c->shards[i].lock, NULL);
        c->shards[i].buckets = aligned_alloc(64, NBUCKETS * sizeof(item_t *));
        memset(c->shards[i].buckets, 0, NBUCKETS * sizeof(item_t *));
    }
    return c;
}

static inline shard_t *shard_of(cache_t *c, uint64_t h)
{
    return &c->shards[(h >> 40) % c->nshards];
}

static item_t **find(shard_t *s, uint64_t h, const char *key, size_t n)
{
    item_t **pp = &s->buckets[h % NBUCKETS];
    for (; *pp; pp = &(*pp)->h_next) {
        if ((*pp)->hash != h)
            continue;
        if ((*pp)->klen == n && !memcmp((*pp)->key, key, n))
            break;
        s->collisions++;
    }
    return pp;
}

void cache_release(item_t *it)
{
    if (atomic_fetch_sub(&it->refcount, 1) == 1)
        slabs_free(it);
}

item_t *cache_get(cache_t *c, const char *key, size_t n)
{
    uint64_t h = kv_hash(key, n);
    shard_t *s = shard_of(c, h);
    pthread_mutex_lock(&s->lock);
    s->lookups++;
    item_t *it = *find(s, h, key, n);
    if (it && it->exptime < c->now)
        it = NULL;
    if (it)
        atomic_fetch_add(&it->refcount, 1);
    pthread_mutex_unlock(&s->lock);
    if (it && (h & 7) == 0)
        lru_bump(c, it);
    return it;
}

static void unhash(cache_t *c, item_t *victim)
{
    shard_t *s = shard_of(c, victim->hash);
    pthread_mutex_lock(&s->lock);
    item_t **pp = &s->buckets[victim->hash % NBUCKETS];
    while (*pp && *pp != victim)
        pp = &(*pp)->h_next;
    bool mine = *pp == victim;
    if (mine) {
        *pp = victim->h_next;
        s->nitems--;
    } else {
        evict_races++;
    }
    pthread_mutex_unlock(&s->lock);
    if (mine)
        cache_release(victim);
    cache_release(victim);
}

bool cache_set(cache_t *c, const char *key, size_t n, const void *val, size_t vlen)
{
    if (n > KEY_MAX || vlen > settings_item_max)
        return false;
    item_t *it = slabs_alloc(sizeof *it + vlen + 8);
    if (!it)
        return false;
    it->hash = kv_hash(key, n);
    it->klen = (uint8_t)n;
    it->vlen = (uint16_t)vlen;
    it->prev = it->next = NULL;
    it->exptime = c->now + settings_ttl;
    atomic_store(&it->refcount, 1);
    memcpy(it->key, key, n);
    memcpy(it->data, val, vlen);
    uint64_t cas = atomic_fetch_add(&cas_unique, 1);
    memcpy(it->data + vlen, &cas, sizeof cas);

    shard_t *s = shard_of(c, it->hash);
    item_t *old;
    pthread_mutex_lock(&s->lock);
    item_t **pp = find(s, it->hash, key, n);
    old = *pp;
    it->h_next = old ? old->h_next : NULL;
    *pp = it;
    if (!old)
        s->nitems++;
    pthread_mutex_unlock(&s->lock);
    if (old) {
        lru_remove(c, old);
        cache_release(old);
    }
    lru_insert(c, it);
    item_t *victim = lru_victim(c);
    if (victim) {
        atomic_fetch_add_explicit(&evictions, 1, memory_order_relaxed);
        unhash(c, victim);
    }
    return true;
}

/* maintenance: how many of a shard are out of date */
uint64_t cache_expire(cache_t *c, uint32_t shard)
{
    shard_t *s = &c->shards[shard % c->nshards];
    uint64_t stale = 0;
    c->now++;
    c->passes++;
    pthread_mutex_lock(&s->lock);
    for (uint32_t b = shard % 16; b < NBUCKETS; b += 16)
        for (item_t *it = s->buckets[b]; it; it = it->h_next)
            stale += it->exptime < c->now;
    pthread_mutex_unlock(&s->lock);
    return stale;
}

uint64_t cache_evictions(void) { return evictions; }

size_t cache_dump_snapshot(cache_t *c)
{
    size_t n = 0;
    for (uint32_t i = 0; i < c->nshards; i++)
        n += c->shards[i].nitems;
    return n;
}
