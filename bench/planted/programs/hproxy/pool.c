/* object pools, the object cache and the rate table */
#include "hproxy.h"

static struct pool_head *pools[8];
static unsigned npools;

struct pool_head *pool_create(const char *name, unsigned size, unsigned limit)
{
    struct pool_head *p = calloc(1, sizeof *p);

    if (!p || npools == 8)
        abort();
    p->pname = name;
    p->size = size < sizeof(struct pool_item) ? sizeof(struct pool_item) : size;
    p->limit = limit;
    pools[npools++] = p;
    return p;
}

void *pool_alloc(struct pool_head *p)
{
    struct pool_item *it;

    SPIN_LOCK(p);
    it = p->free_list;
    if (it)
        p->free_list = it->next;
    else if (p->allocated < p->limit)
        p->allocated++;
    else {
        SPIN_UNLOCK(p);
        return NULL;
    }
    p->used++;
    SPIN_UNLOCK(p);
    if (!it && !(it = malloc(p->size)))
        return NULL;
    return it;
}

void pool_free(struct pool_head *p, void *ptr)
{
    struct pool_item *it = ptr;

    if (!it)
        return;
    SPIN_LOCK(p);
    it->next = p->free_list;
    p->free_list = it;
    p->used--;
    SPIN_UNLOCK(p);
}

/* ---- cache ------------------------------------------------------------- */
#define CACHE_BUCKETS 64
#define CACHE_LOCKS   16

static struct cache_entry *buckets[CACHE_BUCKETS];
static hp_spin_t cache_locks[CACHE_LOCKS];
static unsigned cache_count, cache_evictions, cache_max = 48;
static unsigned cache_lookups;

#define LOCK_OF(k) (&cache_locks[(k) % CACHE_LOCKS])

void cache_init(void)
{
    memset(buckets, 0, sizeof buckets);
}

struct cache_entry *cache_get(uint32_t key)
{
    struct cache_entry *e;
    hp_spin_t *l = LOCK_OF(key);

    HA_ATOMIC_INC(&cache_lookups);
    hp_spin_lock(l);
    for (e = buckets[key % CACHE_BUCKETS]; e; e = e->chain)
        if (e->key == key) {
            HA_ATOMIC_INC(&e->refs);
            break;
        }
    hp_spin_unlock(l);
    if (e)
        e->hits++;
    return e;
}

struct cache_entry *cache_put(uint32_t key, const char *body, int len)
{
    struct cache_entry *e, *o;

    if (len > (int)sizeof e->body || HA_ATOMIC_LOAD(&cache_count) >= cache_max)
        return NULL;
    e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->key = key;
    e->refs = 2;
    e->blen = len;
    memcpy(e->body, body, len);
    hp_spin_lock(LOCK_OF(key));
    for (o = buckets[key % CACHE_BUCKETS]; o && o->key != key; o = o->chain)
        ;
    if (o) {                        /* somebody else was faster */
        HA_ATOMIC_INC(&o->refs);
        hp_spin_unlock(LOCK_OF(key));
        free(e);
        return o;
    }
    e->chain = buckets[key % CACHE_BUCKETS];
    buckets[key % CACHE_BUCKETS] = e;
    hp_spin_unlock(LOCK_OF(key));
    HA_ATOMIC_INC(&cache_count);
    return e;
}

void cache_release(struct cache_entry *e)
{
    if (HA_ATOMIC_DEC(&e->refs) == 0) {
        HA_ATOMIC_INC(&cache_evictions);
        free(e);
    }
}

void cache_dump(void)
{
    hp_log(LOG_NOTE_, "cache: %u objects, %u lookups, %u evictions", cache_count, cache_lookups, cache_evictions);
    for (unsigned i = 0; i < npools; i++)
        hp_log(LOG_NOTE_, "pool %s: %u allocated, %u used", pools[i]->pname, pools[i]->allocated, pools[i]->used);
}

/* ---- rate limiting ----------------------------------------------------- */
static struct rate_entry rate_table[MAX_CLIENTS * CONNS_PER_CLIENT];

/* A source stays with one worker for its life, hence no lock. */
int rate_check(unsigned src)
{
    struct rate_entry *r = &rate_table[src % (MAX_CLIENTS * CONNS_PER_CLIENT)];
    unsigned t = HA_ATOMIC_LOAD(&now_ms) >> 3;

    if (r->tick != t) {
        r->prev = r->curr;
        r->curr = 0;
        r->tick = t;
    }
    r->src = src;
    return ++r->curr + r->prev / 2 > global.tune_ratelimit;
}
