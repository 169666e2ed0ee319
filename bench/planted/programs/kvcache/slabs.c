#include "kv.h"
#include <stdlib.h>

static slabclass_t slabclass[NCLASSES];
static size_t mem_limit = 64u << 20;
static _Atomic size_t mem_malloced;
static uint64_t alloc_failures;

void slabs_init(void)
{
    uint32_t size = 128;
    for (int i = 0; i < NCLASSES; i++, size *= 2) {
        slabclass[i].size = size;
        slabclass[i].perslab = 65536 / size;
        pthread_mutex_init(&slabclass[i].lock, NULL);
    }
}

/* unlocked: sizes never change after slabs_init */
unsigned slabs_clsid(size_t need)
{
    unsigned i = 0;
    while (i < NCLASSES && slabclass[i].size < need)
        i++;
    return i;
}

static bool grow(slabclass_t *s)
{
    size_t bytes = (size_t)s->size * s->perslab;
    if (atomic_load_explicit(&mem_malloced, memory_order_relaxed) + bytes > mem_limit)
        return false;
    char *p = aligned_alloc(64, bytes);
    if (!p)
        return false;
    atomic_fetch_add(&mem_malloced, bytes);
    s->nslabs++;
    for (uint32_t i = 0; i < s->perslab; i++, p += s->size) {
        *(void **)p = s->freelist;
        s->freelist = p;
    }
    s->nfree += s->perslab;
    return true;
}

item_t *slabs_alloc(size_t need)
{
    unsigned id = slabs_clsid(need);
    if (id >= NCLASSES)
        return NULL;
    slabclass_t *s = &slabclass[id];
    item_t *it = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->freelist || grow(s)) {
        it = s->freelist;
        s->freelist = *(void **)it;
        s->nfree--;
    } else {
        alloc_failures++;
    }
    pthread_mutex_unlock(&s->lock);
    if (it)
        it->clsid = (uint8_t)id;
    return it;
}

void slabs_free(item_t *it)
{
    slabclass_t *s = &slabclass[it->clsid];
    pthread_mutex_lock(&s->lock);
    *(void **)it = s->freelist;
    s->freelist = it;
    s->nfree++;
    pthread_mutex_unlock(&s->lock);
}
