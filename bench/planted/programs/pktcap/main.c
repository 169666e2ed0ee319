#include "flow.h"
#include "proto.h"
#include "thr.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NDEC 2

struct capture_conf conf = { .snaplen = 1500, .promiscuous = 1, .verify_csum = 1, .sample_every = 1, .seq = 1 };
struct totals totals;

static struct decoder decoders[NDEC];
static struct ring *rings[NDEC];
static struct flow_table *flows;
static struct thr th_cap, th_exp, th_dec[NDEC];
static _Atomic int stop;
static long rounds;

/* scratch of each decoder, on lines of its own */
static struct scratch {
    _Alignas(64) uint64_t hist[16];
} scratch[NDEC];

struct exporter {
    uint64_t passes;
    uint64_t delta;
    uint64_t rotations;
    char path[48];
};

static uint32_t rnd(uint32_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    *s ^= *s << 5;
    return *s;
}

static void make_frame(struct pkt *p, uint32_t *seed)
{
    uint32_t r = rnd(seed);

    memset(p, 0, sizeof *p);
    p->src = 0x0a000000u | (r & 0x3f);
    p->dst = 0xc0a80000u | (r >> 6 & 0x7);
    p->sport = 1024 + (r >> 9 & 3);
    p->dport = r & 1 ? 443 : 53;
    p->proto = 6;
    p->flags = (r >> 20 & 0xff) == 0;
    p->len = 64 + (r >> 12 & 0x3ff);
    p->hash = (p->src * 2654435761u) ^ (p->dst * 40503u) ^ (p->sport << 7) ^ p->dport;
    p->hash ^= p->hash >> 15;
    p->csum = pkt_csum(p);
}

static void capture_main(void *arg)
{
    uint32_t seed = 0x9e3779b9u;
    struct pkt p;

    (void)arg;
    for (long i = 0; i < rounds; i++) {
        make_frame(&p, &seed);
        p.ts = ++conf.seq;
        while (!ring_put(rings[p.hash & (NDEC - 1)], &p))
            thr_yield();
        totals.captured++;
        totals.captured_bytes += p.len;
    }
    atomic_store(&stop, 1);
}

static void decoder_main(void *arg)
{
    struct decoder *d = arg;
    struct scratch *sc = &scratch[d->id];
    struct pkt p;

    for (;;) {
        if (!ring_get(d->in, &p)) {
            if (atomic_load(&stop) && !ring_get(d->in, &p))
                break;
            thr_yield();
            continue;
        }
        if (p.len > conf.snaplen)
            p.len = conf.snaplen;
        d->packets++;
        d->bytes += p.len;
        sc->hist[p.len >> 6 & 15]++;
        proto_dispatch(d, &p);
        atomic_fetch_add_explicit(&totals.decoded, 1, memory_order_relaxed);
    }
}

static void rotate(struct exporter *e)
{
    e->rotations++;
    snprintf(e->path, sizeof e->path, "flows.%lu", (unsigned long)e->rotations);
}

static void exporter_main(void *arg)
{
    struct exporter *e = arg;

    while (!atomic_load(&stop)) {
        uint32_t n = atomic_load(&flows->nflows);
        if (n > 64)
            n = 64;
        for (uint32_t i = 0; i < n; i++)
            e->delta += flow_export(flows, i);
        totals.exported += n;
        if ((++e->passes & 0xfff) == 0)
            rotate(e);
        thr_yield();
    }
}

int main(int argc, char **argv)
{
    struct timespec a, b;
    struct exporter *e = aligned_alloc(64, 128);

    rounds = argc > 1 ? atol(argv[1]) : 2000000;
    memset(e, 0, sizeof *e);
    clock_gettime(CLOCK_MONOTONIC, &a);
    flows = flow_table_new(16384);
    for (int i = 0; i < NDEC; i++) {
        rings[i] = ring_new(i, 1024);
        decoders[i].id = i;
        decoders[i].in = rings[i];
        decoders[i].flows = flows;
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    totals.ring_init_us = (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000;
    conf.started_at = a.tv_sec;
#ifdef TRUTH_PROBE
    PROBE("P1.a", &rings[0]->wr);
    PROBE("P1.b", &rings[0]->rd);
    PROBE("P2.a", &totals.captured);
    PROBE("P2.b", &totals.decoded);
    PROBE("P3.a", &decoders[0].packets);
    PROBE("P3.b", &decoders[1].packets);
    PROBE("P4.a", &flows->b[0].lock);
    PROBE("P4.b", &flows->b[1].lock);
    PROBE("P5.a", &conf.seq);
    PROBE("P5.b", &conf.verify_csum);
    { struct flow *x = aligned_alloc(64, 64); PROBE("P6.a", &x->packets); PROBE("P6.b", &x->exported); free(x); }
    PROBE("P7.a", &protos[0].seen);
    PROBE("P7.b", &protos[1].parse);
    PROBE("P8.a", &rings[0]->mask);
    PROBE("P8.b", &rings[0]->rd);
#endif
    for (int i = 0; i < NDEC; i++)
        thr_start(&th_dec[i], "decoder", decoder_main, &decoders[i]);
    thr_start(&th_exp, "exporter", exporter_main, e);
    thr_start(&th_cap, "capture", capture_main, NULL);
    thr_join(&th_cap);
    for (int i = 0; i < NDEC; i++)
        thr_join(&th_dec[i]);
    thr_join(&th_exp);
    printf("captured %lu decoded %lu flows %u exported %lu bad %lu init %lu us\n", (unsigned long)totals.captured,
           (unsigned long)totals.decoded, flows->nflows, (unsigned long)e->delta, (unsigned long)totals.bad_csum,
           (unsigned long)totals.ring_init_us);
    for (int i = 0; i < 3; i++)
        printf("%s %lu\n", protos[i].name, (unsigned long)protos[i].seen);
    free(e);
    for (int i = 0; i < NDEC; i++)
        ring_free(rings[i]);
    flow_table_free(flows);
    return 0;
}
