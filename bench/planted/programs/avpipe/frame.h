/* Frames: counted by reference, from a pool. */
#ifndef AV_FRAME_H
#define AV_FRAME_H

#include <stdatomic.h>
#include <stdint.h>

#include "thr.h"

#define FRAME_W 16
#define FRAME_H 8

typedef struct frame {
    atomic_int refs;
    int width;
    int height;
    int stride;
    int64_t pts;
    uint32_t flags;
    uint32_t crc;
    struct frame *next;
    uint8_t *data;
} frame;

typedef struct frame_pool {
    thr_mutex mu;
    thr_cond has_free;
    frame *free_list;
    int nfree;
    long waits;
} frame_pool;

frame_pool *frame_pool_new(int n);
void frame_pool_free(frame_pool *p, int n);
frame *frame_get(frame_pool *p);
void frame_ref(frame *f);
void frame_unref(frame_pool *p, frame *f);

#endif
