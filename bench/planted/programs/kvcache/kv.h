/* kv.h - sharded key/value cache with one LRU per cache and slab classes */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_MAX 24
#define NSHARDS 8
#define NCLASSES 4
#define NBUCKETS 256

typedef struct item {
    struct item *h_next;
    struct item *prev, *next;    /* LRU, under lru_lock */
    uint64_t hash;
    atomic_uint refcount;
    uint32_t exptime;
    uint8_t klen;
    uint8_t clsid;
    uint16_t vlen;
    char key[KEY_MAX];
    unsigned char data[];
} item_t;

typedef struct shard {
    pthread_mutex_t lock;
    item_t **buckets;
    uint32_t nitems;
    uint32_t collisions;
    uint64_t lookups;
} shard_t;

typedef struct cache {
    shard_t *shards;
    uint32_t nshards;
    uint32_t max_items;
    pthread_mutex_t lru_lock;
    item_t *lru_head, *lru_tail;
    uint32_t lru_count;
    uint32_t now;             /* coarse clock, kept by the maintenance thread */
    uint64_t passes;
} cache_t;

typedef struct worker {
    pthread_t tid;
    cache_t *cache;
    uint32_t id;
    uint32_t seed;
    uint64_t gets, sets, hits;
} worker_t;

typedef struct slabclass {
    uint32_t size;
    uint32_t perslab;
    void *freelist;
    uint32_t nfree;
    uint32_t nslabs;
    pthread_mutex_t lock;
} slabclass_t;

extern uint32_t settings_item_max;
extern uint32_t settings_ttl;
extern _Atomic uint64_t cas_unique;
extern const char *settings_listen;

void kv_set_seed(uint64_t seed);
uint64_t kv_hash(const char *key, size_t n);
cache_t *cache_create(uint32_t max_items);
item_t *cache_get(cache_t *c, const char *key, size_t n);
bool cache_set(cache_t *c, const char *key, size_t n, const void *val, size_t vlen);
void cache_release(item_t *it);
uint64_t cache_expire(cache_t *c, uint32_t shard);
uint64_t cache_evictions(void);
size_t cache_dump_snapshot(cache_t *c);

void lru_insert(cache_t *c, item_t *it);
void lru_bump(cache_t *c, item_t *it);
void lru_remove(cache_t *c, item_t *it);
item_t *lru_victim(cache_t *c);

void slabs_init(void);
item_t *slabs_alloc(size_t need);
void slabs_free(item_t *it);
unsigned slabs_clsid(size_t need);
