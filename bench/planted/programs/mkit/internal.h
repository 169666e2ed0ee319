/* What the parts of mkit know of each other. */
#ifndef MKIT_INTERNAL_H
#define MKIT_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "mkit.h"

struct arena;

/* A block's head, before the user's bytes. */
struct block {
    struct arena *home;
    struct block *next;
    uint32_t cls;
    uint32_t magic;
};

/* One thread's blocks of one size class. */
struct arena {
    struct block *free_local;            /* the owner */
    uint32_t nlocal;                     /* the owner */
    uint32_t owner;
    _Atomic(struct block *) remote;      /* others push, the owner takes all */
    atomic_uint nremote;                 /* others */
    uint32_t refills;
    char *mem;
    size_t block_size;
};

/* What a thread's own calls use, found through TLS; the collector looks in. */
struct tctx {
    uint32_t id;
    bool live;
    uint64_t allocs;
    uint64_t frees;
    uint64_t seen_epoch;                 /* the owner */
    uint64_t collected;                  /* the collector */
    struct arena *arenas[MK_CLASSES];
    const char *name;
};

struct metric {
    const char *name;
    const char *unit;
    atomic_ullong value;
};

extern struct tctx mk_threads[MK_MAX_THREADS];
extern __thread struct tctx *mk_self;
extern struct metric mk_metrics[MKM_COUNT];

extern struct mk_options mk_opts;
extern atomic_llong mk_live;
extern atomic_ullong mk_global_epoch;
extern int mk_metrics_on;

void mk_count(enum mk_metric m, uint64_t by);
void mk_shards_init(void);
void mk_shards_fini(void);

#endif
