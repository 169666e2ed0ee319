#include "mq.h"
#include <stdlib.h>
#include <stdio.h>

struct ring *ring_new(uint32_t size, uint32_t owner)
{
    struct ring *r = calloc(1, sizeof *r);
    if (!r || !(r->slots = aligned_alloc(64, (size_t)size * sizeof(struct msg)))) {
        perror("ring");
        exit(1);
    }
    r->mask = size - 1;
    r->owner = owner;
    return r;
}

bool ring_put(struct ring *r, const struct msg *m)
{
    uint64_t t = atomic_load_explicit(&r->tail, memory_order_relaxed);
    if (t - atomic_load_explicit(&r->head, memory_order_acquire) > r->mask)
        return false;
    r->slots[t & r->mask] = *m;
    atomic_store_explicit(&r->tail, t + 1, memory_order_release);
    return true;
}

bool ring_take(struct ring *r, struct msg *m)
{
    uint64_t h = atomic_load_explicit(&r->head, memory_order_relaxed);
    if (h == atomic_load_explicit(&r->tail, memory_order_acquire))
        return false;
    *m = r->slots[h & r->mask];
    atomic_store_explicit(&r->head, h + 1, memory_order_release);
    return true;
}
