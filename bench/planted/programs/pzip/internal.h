#ifndef PZ_INTERNAL_H
#define PZ_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "pzip.h"

#define PZ_SLOTS 16
#define PZ_HASH 256

/* Shared prefix for the first matches of a block; counted, so that it may be
 * replaced while blocks still use the old one. */
typedef struct pz_dict {
    _Atomic int refs;
    uint32_t len;
    const uint8_t *data;
} pz_dict;

/* One block on its way through the pipeline.  in/out point into the arena. */
typedef struct pz_slot {
    uint8_t *in;
    uint8_t *out;
    uint32_t in_len;
    uint32_t out_len;
    uint32_t seq;
    _Atomic int state;
} pz_slot;

enum { SLOT_FREE, SLOT_FILLED, SLOT_DONE };

/* Two-lock queue of slot numbers: takers and givers do not wait for each
 * other. */
typedef struct pz_queue {
    pthread_mutex_t take_lock;
    uint32_t head;
    uint32_t taken_empty;
    pthread_mutex_t give_lock;
    uint32_t tail;
    uint32_t closed;
    _Atomic uint32_t avail;
    uint16_t item[PZ_SLOTS];
} pz_queue;

typedef struct pz_worker {
    uint64_t literals;
    uint64_t matches;
    uint64_t overflows;   /* block did not fit, stored instead */
    uint32_t blocks;
    int id;
    struct pz_ctx *ctx;
    pthread_t tid;
    uint16_t *hash;
} pz_worker;

/* folded into the context after the workers are gone */
typedef struct pz_lane {
    uint64_t probes;
    uint64_t chain;
} __attribute__((aligned(64))) pz_lane;

struct pz_ctx {
    pz_options opt;
    /* tuning, read for each position */
    uint32_t max_match;
    uint32_t max_probe;
    _Atomic uint64_t tokens;      /* progress display */
    pz_dict *dict;
    pz_slot *slots;
    pz_worker *workers;
    pz_queue todo;
    pz_lane lane[PZ_MAX_WORKERS];
    uint32_t crc_lane[PZ_MAX_WORKERS];
    /* reader side */
    uint64_t bytes_in;
    uint32_t next_in;
    /* writer side */
    uint32_t next_out;
    uint64_t bytes_out;
    /* both */
    _Atomic int eof;
    _Atomic int failed;
    uint64_t probes, chain;       /* after the run */
    pz_read_fn rd;
    void *rd_opaque;
    pz_write_fn wr;
    void *wr_opaque;
    uint8_t *arena;
};

/* codec.c */
uint32_t pz_compress_block(pz_ctx *c, pz_worker *w, pz_slot *s);
pz_dict *pz_dict_get(pz_dict *d);
void pz_dict_put(pz_dict *d);
extern uint32_t pz_sym_count[PZ_MAX_WORKERS][4];

/* queue.c */
int pz_queue_init(pz_queue *q);
void pz_queue_destroy(pz_queue *q);
void pz_queue_give(pz_queue *q, uint16_t item);
int pz_queue_take(pz_queue *q);
void pz_queue_close(pz_queue *q);

#endif
