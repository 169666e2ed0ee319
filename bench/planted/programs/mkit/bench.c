/* The benchmark: threads that allocate, hand blocks on and look tags up. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "mkit.h"

#define NBENCH 3
#define RING 16u

struct ring {
    _Alignas(64) atomic_uint put;
    _Alignas(64) atomic_uint got;
    _Alignas(64) void *_Atomic item[RING];
};

struct result {
    unsigned long handed;
    unsigned long kept;
    unsigned long tags;
};

static struct ring rings[NBENCH];
static struct result results[NBENCH];
static unsigned long rounds;
static atomic_int ready;
static atomic_int over;

static void hand_on(struct ring *r, void *p)
{
    unsigned put = atomic_load_explicit(&r->put, memory_order_relaxed);

    if (put - atomic_load_explicit(&r->got, memory_order_acquire) == RING) {
        mk_free(p);
        return;
    }
    atomic_store_explicit(&r->item[put % RING], p, memory_order_relaxed);
    atomic_store_explicit(&r->put, put + 1, memory_order_release);
}

static void take_over(struct ring *r)
{
    unsigned got = atomic_load_explicit(&r->got, memory_order_relaxed);

    if (got == atomic_load_explicit(&r->put, memory_order_acquire))
        return;
    mk_free(atomic_load_explicit(&r->item[got % RING], memory_order_relaxed));
    atomic_store_explicit(&r->got, got + 1, memory_order_release);
}

static void *bench_thread(void *arg)
{
    int id = mk_thread_register(arg);
    struct result *mine = &results[id];

    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < NBENCH)
        sched_yield();
    for (unsigned long i = 0; i < rounds; i++) {
        uint64_t key = (i * 3 + (unsigned long)id) % 96;
        void *p = mk_alloc(16 + (i % 3) * 80);

        if (!p) {
            sched_yield();
            take_over(&rings[id]);
            continue;
        }
        mk_tag_set(key, (uint32_t)i);
        if (i % 2) {
            hand_on(&rings[(id + 1) % NBENCH], p);
            mine->handed++;
        } else {
            mk_free(p);
            mine->kept++;
        }
        mine->tags += mk_tag_get((key * 7 + i) % 96) != 0;
        take_over(&rings[id]);
        if ((i & 63) == 0)
            sched_yield();
    }
    mk_thread_unregister();
    return NULL;
}

static void *collector_thread(void *arg)
{
    (void)arg;
    while (!atomic_load_explicit(&over, memory_order_acquire)) {
        mk_collect();
        sched_yield();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct mk_options opts = { 4, 1, 512 };
    pthread_t threads[NBENCH], collector;
    unsigned long done = 0;

    rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    mk_init(&opts);
    if (pthread_create(&collector, NULL, collector_thread, NULL))
        abort();
    for (int i = 0; i < NBENCH; i++)
        if (pthread_create(&threads[i], NULL, bench_thread, (void *)(i ? "mutator" : "first")))
            abort();
    for (int i = 0; i < NBENCH; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&over, 1);
    pthread_join(collector, NULL);
    for (int i = 0; i < NBENCH; i++)
        done += results[i].handed + results[i].kept;
    printf("%lu of %lu rounds\n", done, rounds * NBENCH);
    mk_metric_print();
    mk_fini();
    return 0;
}
