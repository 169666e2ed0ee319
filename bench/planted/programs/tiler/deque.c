#include "deque.h"
#include <stdlib.h>

bool deque_init(deque *d)
{
    d->ring = malloc(DQ_SIZE * sizeof(tile));
    atomic_init(&d->top, 0);
    atomic_init(&d->bottom, 0);
    d->pushed = d->stolen = 0;
    return d->ring && mtx_init(&d->steal_lock, mtx_plain) == thrd_success;
}

void deque_free(deque *d)
{
    mtx_destroy(&d->steal_lock);
    free(d->ring);
}

bool deque_push(deque *d, tile t)
{
    long b = atomic_load_explicit(&d->bottom, memory_order_relaxed);
    long a = atomic_load_explicit(&d->top, memory_order_acquire);
    if (b - a >= DQ_SIZE)
        return false;
    d->ring[b % DQ_SIZE] = t;
    d->pushed++;
    atomic_store_explicit(&d->bottom, b + 1, memory_order_release);
    return true;
}

bool deque_take(deque *d, tile *out)
{
    bool got = false;
    mtx_lock(&d->steal_lock);
    long a = atomic_load_explicit(&d->top, memory_order_relaxed);
    if (a < atomic_load_explicit(&d->bottom, memory_order_acquire)) {
        *out = d->ring[a % DQ_SIZE];
        atomic_store_explicit(&d->top, a + 1, memory_order_release);
        d->stolen++;
        got = true;
    }
    mtx_unlock(&d->steal_lock);
    return got;
}
