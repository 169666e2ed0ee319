#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MAGIC 0x6d6b6974u

struct mk_options mk_opts;
atomic_llong mk_live;
static uint64_t out_of_blocks;
static uint64_t bad_magic;

static const size_t class_size[MK_CLASSES] = { 48, 112, 240, 496 };

static unsigned class_of(size_t size)
{
    unsigned c = 0;

    while (c < MK_CLASSES - 1 && size + sizeof(struct block) > class_size[c])
        c++;
    return c;
}

static void arena_grow(struct arena *a)
{
    for (size_t i = 0; i < mk_opts.arena_blocks; i++) {
        struct block *b = (struct block *)(a->mem + i * a->block_size);

        b->home = a;
        b->magic = BLOCK_MAGIC;
        b->next = a->free_local;
        a->free_local = b;
        a->nlocal++;
    }
}

struct arena *mk_arena_new(unsigned cls, uint32_t owner)
{
    struct arena *a = aligned_alloc(64, 64);

    memset(a, 0, 64);
    a->owner = owner;
    a->block_size = class_size[cls] + 16;
    a->mem = aligned_alloc(64, (mk_opts.arena_blocks * a->block_size + 63) / 64 * 64);
    memset(a->mem, 0, mk_opts.arena_blocks * a->block_size);
    arena_grow(a);
    return a;
}

void mk_arena_free(struct arena *a)
{
    free(a->mem);
    free(a);
}

/* Takes back what other threads have freed. */
static void arena_drain(struct arena *a)
{
    struct block *b = atomic_exchange_explicit(&a->remote, NULL, memory_order_acquire);

    a->refills++;
    while (b) {
        struct block *next = b->next;

        b->next = a->free_local;
        a->free_local = b;
        a->nlocal++;
        b = next;
    }
}

void *mk_alloc(size_t size)
{
    struct tctx *t = mk_self;
    unsigned c = class_of(size);
    struct arena *a = t->arenas[c];
    struct block *b;

    if (!a->free_local)
        arena_drain(a);
    b = a->free_local;
    if (!b) {
        out_of_blocks++;
        return NULL;
    }
    a->free_local = b->next;
    a->nlocal--;
    b->cls = c;
    t->allocs++;
    if ((t->allocs & ((1u << mk_opts.sample_shift) - 1)) == 0)
        mk_count(MKM_ALLOC, 1u << mk_opts.sample_shift);
    if (mk_opts.poison)
        memset(b + 1, 0xa5, 16);
    atomic_fetch_add_explicit(&mk_live, (long long)class_size[c], memory_order_relaxed);
    t->seen_epoch = atomic_load_explicit(&mk_global_epoch, memory_order_acquire);
    return b + 1;
}

void mk_free(void *p)
{
    struct block *b = (struct block *)p - 1;
    struct arena *a = b->home;
    struct tctx *t = mk_self;

    if (b->magic != BLOCK_MAGIC) {
        bad_magic++;
        fprintf(stderr, "mkit: not a block: %p\n", p);
        abort();
    }
    t->frees++;
    atomic_fetch_sub_explicit(&mk_live, (long long)class_size[b->cls], memory_order_relaxed);
    if (a->owner == t->id) {
        b->next = a->free_local;
        a->free_local = b;
        a->nlocal++;
        return;
    }
    mk_count(MKM_REMOTE, 1);
    b->next = atomic_load_explicit(&a->remote, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&a->remote, &b->next, b))
        ;
    atomic_fetch_add_explicit(&a->nremote, 1, memory_order_relaxed);
}

uint64_t mk_live_bytes(void) { return (uint64_t)atomic_load(&mk_live); }
