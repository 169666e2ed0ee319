/* A bounded queue of frames between two stages. */
#ifndef AV_BQUEUE_H
#define AV_BQUEUE_H

#include "frame.h"

#define BQUEUE_CAP 8

typedef struct bqueue {
    thr_mutex mu;
    int count;
    int first;
    long sent_bytes;        /* the stage before */
    long taken_bytes;       /* the stage behind */
    int64_t last_pts;       /* the stage behind */
    thr_cond not_empty;
    thr_cond not_full;
    frame *items[BQUEUE_CAP];
} bqueue;

bqueue *bqueue_new(void);
void bqueue_put(bqueue *q, frame *f);
frame *bqueue_take(bqueue *q);

#endif
