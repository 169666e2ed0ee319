#include "kv.h"
#include <sched.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NWORKERS 3

static worker_t workers[NWORKERS];
static long rounds = 100000;
static atomic_int quit __attribute__((aligned(64)));
static struct { alignas(64) atomic_ulong requests; } served;
static alignas(64) struct {
    uint64_t protocol_errors;
    uint64_t report_runs;
    time_t started;
    uint64_t oom;
} oddities;

/* latency histogram: each worker keeps its own on the heap, merged at the end */
struct histogram {
    uint64_t bucket[32];
};
static struct histogram *histograms[NWORKERS];

static uint32_t next_random(worker_t *w)
{
    w->seed ^= w->seed << 13;
    w->seed ^= w->seed >> 17;
    w->seed ^= w->seed << 5;
    return w->seed;
}

static size_t make_key(char *key, uint32_t n)
{
    static const char hex[] = "0123456789abcdef";
    size_t len = 0;
    memcpy(key, "user:", 5);
    for (len = 5; n; n >>= 4)
        key[len++] = hex[n & 15];
    while (len < 16)
        key[len++] = '.';
    return len;
}

static unsigned checksum(const unsigned char *p, size_t n)
{
    unsigned a = 1, b = 0;
    for (size_t i = 0; i < n; i++) {
        a += p[i];
        b += a;
    }
    return (b << 16) | (a & 0xffff);
}

static void serve_one(worker_t *w)
{
    char key[32];
    unsigned char value[256];
    uint32_t r = next_random(w);
    /* half of the requests go to a few popular keys */
    size_t n = make_key(key, r & 0x10000 ? 1 + (r >> 4) % 12 : 1 + (r >> 4) % 3000);
    struct histogram *h = histograms[w->id];
    if ((r & 15) < 11 || ((r & 0x10000) && (r & 0x7e00000))) {
        item_t *it = cache_get(w->cache, key, n);
        w->gets++;
        if (it) {
            w->hits++;
            h->bucket[checksum(it->data, it->vlen) & 31]++;
            cache_release(it);
        }
    } else {
        size_t vlen = 60 + r % 180;
        memset(value, (int)(r & 255), vlen);
        if (!cache_set(w->cache, key, n, value, vlen))
            oddities.oom++;
        w->sets++;
        h->bucket[vlen & 31]++;
    }
}

static void *worker_main(void *arg)
{
    worker_t *w = arg;
    for (long i = 0; i < rounds; i++) {
        serve_one(w);
        if ((i & 1023) == 0)
            atomic_fetch_add(&served.requests, 1024);
    }
    return NULL;
}

static void *maintenance_main(void *arg)
{
    cache_t *c = arg;
    uint64_t stale = 0;
    for (uint32_t i = 0; !atomic_load(&quit); i++) {
        stale += cache_expire(c, i);
        if (i % 64 == 63)
            sched_yield();
    }
    return (void *)(uintptr_t)stale;
}

static void *reporter_main(void *arg)
{
    cache_t *c = arg;
    while (!atomic_load(&quit)) {
        usleep(300000);
        oddities.report_runs++;
        fprintf(stderr, "items %zu, evicted %lu\n", cache_dump_snapshot(c), (unsigned long)cache_evictions());
    }
    return NULL;
}

static void warm_up(cache_t *c)
{
    char key[32];
    for (uint32_t i = 1; i < 1500; i++) {
        size_t n = make_key(key, i);
        if (!cache_set(c, key, n, key, n))
            abort();
    }
}

static void parse_settings(void)
{
    const char *s = getenv("KV_TTL");
    if (s)
        settings_ttl = (uint32_t)atoi(s);
    if ((s = getenv("KV_SEED")))
        kv_set_seed(strtoull(s, NULL, 0));
    if ((s = getenv("KV_LISTEN")))
        settings_listen = s;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atol(argv[1]);
    parse_settings();
    slabs_init();
    cache_t *c = cache_create(1800);
    warm_up(c);
    pthread_t maint, report;
    for (uint32_t i = 0; i < NWORKERS; i++) {
        histograms[i] = aligned_alloc(64, sizeof(struct histogram));
        memset(histograms[i], 0, sizeof(struct histogram));
        workers[i].id = i;
        workers[i].cache = c;
        workers[i].seed = 88172645u + i * 1237u;
        pthread_create(&workers[i].tid, NULL, worker_main, &workers[i]);
    }
    pthread_create(&maint, NULL, maintenance_main, c);
    pthread_create(&report, NULL, reporter_main, c);
    struct histogram sum = {{0}};
    uint64_t gets = 0, hits = 0, sets = 0;
    for (int i = 0; i < NWORKERS; i++) {
        pthread_join(workers[i].tid, NULL);
        gets += workers[i].gets;
        hits += workers[i].hits;
        sets += workers[i].sets;
        for (int b = 0; b < 32; b++)
            sum.bucket[b] += histograms[i]->bucket[b];
    }
    atomic_store(&quit, 1);
    pthread_join(maint, NULL);
    pthread_join(report, NULL);
    printf("gets %lu hits %lu sets %lu evictions %lu items %zu listen %s h0 %lu errs %lu\n",
           (unsigned long)gets, (unsigned long)hits, (unsigned long)sets,
           (unsigned long)cache_evictions(), cache_dump_snapshot(c), settings_listen,
           (unsigned long)sum.bucket[0], (unsigned long)(oddities.oom + oddities.protocol_errors));
    return 0;
}
