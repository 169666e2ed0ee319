#include "bqueue.h"

#include <stdlib.h>

bqueue *bqueue_new(void)
{
    bqueue *q = calloc(1, sizeof(*q));

    thr_mutex_init(&q->mu);
    thr_cond_init(&q->not_empty);
    thr_cond_init(&q->not_full);
    return q;
}

void bqueue_put(bqueue *q, frame *f)
{
    if (f)
        q->sent_bytes += f->width * f->height;
    thr_lock(&q->mu);
    while (q->count == BQUEUE_CAP)
        thr_wait(&q->not_full, &q->mu);
    q->items[(q->first + q->count) % BQUEUE_CAP] = f;
    q->count++;
    thr_signal(&q->not_empty);
    thr_unlock(&q->mu);
}

frame *bqueue_take(bqueue *q)
{
    frame *f;

    thr_lock(&q->mu);
    while (q->count == 0)
        thr_wait(&q->not_empty, &q->mu);
    f = q->items[q->first];
    q->first = (q->first + 1) % BQUEUE_CAP;
    q->count--;
    thr_signal(&q->not_full);
    thr_unlock(&q->mu);
    if (f) {
        q->taken_bytes += f->width * f->height;
        q->last_pts = f->pts;
    }
    return f;
}
