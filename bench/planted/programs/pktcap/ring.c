#include "ring.h"
#include <stdlib.h>

struct ring *ring_new(uint32_t id, uint32_t size)
{
    struct ring *r = aligned_alloc(64, 64);
    if (!r)
        return NULL;
    r->slot = aligned_alloc(64, size * sizeof *r->slot);
    r->mask = size - 1;
    r->id = id;
    atomic_init(&r->wr, 0);
    atomic_init(&r->rd, 0);
    r->high_water = size - size / 8;
    return r;
}

void ring_free(struct ring *r)
{
    free(r->slot);
    free(r);
}

int ring_put(struct ring *r, const struct pkt *p)
{
    uint32_t w = atomic_load_explicit(&r->wr, memory_order_relaxed);
    uint32_t d = atomic_load_explicit(&r->rd, memory_order_acquire);

    if (w - d > r->mask)
        return 0;
    r->slot[w & r->mask] = *p;
    atomic_store_explicit(&r->wr, w + 1, memory_order_release);
    return 1;
}

int ring_get(struct ring *r, struct pkt *out)
{
    uint32_t d = atomic_load_explicit(&r->rd, memory_order_relaxed);

    if (d == atomic_load_explicit(&r->wr, memory_order_acquire))
        return 0;
    *out = r->slot[d & r->mask];
    atomic_store_explicit(&r->rd, d + 1, memory_order_release);
    return 1;
}
