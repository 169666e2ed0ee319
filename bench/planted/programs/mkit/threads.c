#include "internal.h"

#include <stdlib.h>

struct arena *mk_arena_new(unsigned cls, uint32_t owner);
void mk_arena_free(struct arena *a);

struct tctx mk_threads[MK_MAX_THREADS];
__thread struct tctx *mk_self;
atomic_ullong mk_global_epoch;

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned registered;
static unsigned high_water;

void mk_init(const struct mk_options *opts)
{
    mk_opts = *opts;
    mk_metrics_on = 1;
    mk_shards_init();
}

void mk_fini(void)
{
    for (unsigned i = 0; i < registered; i++)
        for (unsigned c = 0; c < MK_CLASSES; c++)
            mk_arena_free(mk_threads[i].arenas[c]);
    mk_shards_fini();
}

int mk_thread_register(const char *name)
{
    struct tctx *t;

    pthread_mutex_lock(&registry_lock);
    if (registered == MK_MAX_THREADS) {
        pthread_mutex_unlock(&registry_lock);
        return -1;
    }
    t = &mk_threads[registered];
    t->id = registered++;
    if (registered > high_water)
        high_water = registered;
    t->name = name;
    for (unsigned c = 0; c < MK_CLASSES; c++)
        t->arenas[c] = mk_arena_new(c, t->id);
    t->live = true;
    pthread_mutex_unlock(&registry_lock);
    mk_self = t;
    return (int)t->id;
}

void mk_thread_unregister(void)
{
    pthread_mutex_lock(&registry_lock);
    mk_self->live = false;
    pthread_mutex_unlock(&registry_lock);
    mk_self = NULL;
}

/* Moves the epoch on and looks at each thread; many times a second. */
void mk_collect(void)
{
    atomic_fetch_add_explicit(&mk_global_epoch, 1, memory_order_release);
    for (unsigned i = 0; i < MK_MAX_THREADS; i++) {
        struct tctx *t = &mk_threads[i];

        if (!t->live)
            continue;
        t->collected += t->seen_epoch & 1;
    }
    mk_count(MKM_EPOCH, 1);
}

uint64_t mk_epoch(void) { return atomic_load(&mk_global_epoch); }
