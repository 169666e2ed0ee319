#include "frame.h"

#include <stdlib.h>

frame_pool *frame_pool_new(int n)
{
    frame_pool *p = calloc(1, sizeof(*p));

    thr_mutex_init(&p->mu);
    thr_cond_init(&p->has_free);
    for (int i = 0; i < n; i++) {
        frame *f = aligned_alloc(64, sizeof(frame) + (64 - sizeof(frame) % 64) % 64);

        atomic_init(&f->refs, 0);
        f->width = FRAME_W;
        f->height = FRAME_H;
        f->stride = FRAME_W;
        f->flags = f->crc = 0;
        f->data = aligned_alloc(64, FRAME_W * FRAME_H);
        f->next = p->free_list;
        p->free_list = f;
    }
    p->nfree = n;
    return p;
}

void frame_pool_free(frame_pool *p, int n)
{
    while (n-- > 0) {
        frame *f = frame_get(p);

        free(f->data);
        free(f);
    }
    free(p);
}

frame *frame_get(frame_pool *p)
{
    frame *f;

    thr_lock(&p->mu);
    while (!p->free_list) {
        p->waits++;
        thr_wait(&p->has_free, &p->mu);
    }
    f = p->free_list;
    p->free_list = f->next;
    p->nfree--;
    thr_unlock(&p->mu);
    atomic_store_explicit(&f->refs, 1, memory_order_relaxed);
    return f;
}

void frame_ref(frame *f)
{
    atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
}

void frame_unref(frame_pool *p, frame *f)
{
    if (atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) != 1)
        return;
    thr_lock(&p->mu);
    f->next = p->free_list;
    p->free_list = f;
    p->nfree++;
    thr_signal(&p->has_free);
    thr_unlock(&p->mu);
}
