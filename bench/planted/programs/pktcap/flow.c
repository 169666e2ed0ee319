#include "flow.h"
#include <stdlib.h>
#include <string.h>

struct flow_table *flow_table_new(uint32_t max)
{
    struct flow_table *t = aligned_alloc(64, 64);

    memset(t, 0, sizeof *t);
    t->b = aligned_alloc(64, FLOW_BUCKETS * sizeof *t->b);
    for (int i = 0; i < FLOW_BUCKETS; i++) {
        pthread_mutex_init(&t->b[i].lock, NULL);
        t->b[i].head = NULL;
    }
    t->index = calloc(max, sizeof *t->index);
    t->max = max;
    return t;
}

static struct flow *flow_insert(struct flow_table *t, struct bucket *b, const struct pkt *p)
{
    struct flow *f;
    uint32_t n = atomic_fetch_add(&t->nflows, 1);

    if (n >= t->max) {
        atomic_fetch_sub(&t->nflows, 1);
        t->table_full++;
        return NULL;
    }
    f = aligned_alloc(64, 64);
    memset(f, 0, sizeof *f);
    f->src = p->src;
    f->dst = p->dst;
    f->sport = p->sport;
    f->dport = p->dport;
    f->proto = p->proto;
    f->first_ts = p->ts;
    f->next = b->head;
    b->head = f;
    __atomic_store_n(&t->index[n], f, __ATOMIC_RELEASE);
    return f;
}

struct flow *flow_update(struct flow_table *t, const struct pkt *p)
{
    struct bucket *b = &t->b[p->hash % FLOW_BUCKETS];
    struct flow *f;

    pthread_mutex_lock(&b->lock);
    for (f = b->head; f; f = f->next)
        if (f->src == p->src && f->dst == p->dst && f->sport == p->sport && f->dport == p->dport)
            break;
    if (!f)
        f = flow_insert(t, b, p);
    if (f) {
        f->packets++;
        f->bytes += p->len;
    }
    pthread_mutex_unlock(&b->lock);
    return f;
}

/* the exporter looks without the lock: a report may be one packet late */
uint64_t flow_export(struct flow_table *t, uint32_t i)
{
    struct flow *f = __atomic_load_n(&t->index[i], __ATOMIC_ACQUIRE);
    uint64_t n, d;

    if (!f)
        return 0;
    n = __atomic_load_n(&f->packets, __ATOMIC_RELAXED);
    d = n - f->exported;
    f->exported = n;
    return d;
}

void flow_table_free(struct flow_table *t)
{
    for (uint32_t i = 0; i < t->nflows; i++)
        free(t->index[i]);
    free(t->index);
    free(t->b);
    free(t);
}
