#include "inbox.h"

#include <stdlib.h>

struct inbox *inbox_new(void)
{
    struct inbox *q = aligned_alloc(64, 64);

    if (!q)
        abort();
    q->slots = calloc(INBOX_SLOTS, sizeof(*q->slots));
    q->mask = INBOX_SLOTS - 1;
    atomic_init(&q->head, 0);
    atomic_init(&q->tail, 0);
    q->full = 0;
    return q;
}

void inbox_free(struct inbox *q)
{
    free(q->slots);
    free(q);
}

bool inbox_push(struct inbox *q, struct conn *c)
{
    unsigned int t = atomic_load_explicit(&q->tail, memory_order_relaxed);

    if (t - atomic_load_explicit(&q->head, memory_order_acquire) > q->mask) {
        q->full++;
        return false;
    }
    q->slots[t & q->mask] = c;
    atomic_store_explicit(&q->tail, t + 1, memory_order_release);
    return true;
}

struct conn *inbox_pop(struct inbox *q)
{
    unsigned int h = atomic_load_explicit(&q->head, memory_order_relaxed);
    struct conn *c;

    if (h == atomic_load_explicit(&q->tail, memory_order_acquire))
        return NULL;
    c = q->slots[h & q->mask];
    atomic_store_explicit(&q->head, h + 1, memory_order_release);
    return c;
}
