#include "dns.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool parse_name(struct query *q)
{
    for (int i = 0; i < NAME_MAX_LEN; i++) {
        char c = q->name[i];
        if (c == 0)
            return i > 0;
        if (c >= 'A' && c <= 'Z')
            q->name[i] = (char)(c - 'A' + 'a');
    }
    return false;
}

static uint32_t synthesize(struct worker *w, const struct query *q)
{
    uint32_t h = w->salt;
    for (int r = 0; r < 4; r++) {
        h ^= name_hash(q->name) + (uint32_t)r;
        h = (h << 7) | (h >> 25);
    }
    return h;
}

static void resolve(struct worker *w, struct job *j)
{
    struct server *s = w->srv;
    j->a.client = j->q.client;
    j->a.id = j->q.id;
    j->a.rcode = 0;
    if (!parse_name(&j->q)) {
        atomic_fetch_add(&stats.formerr, 1);
        j->a.rcode = 1;
        return;
    }
    if (!rrl_allow(j->q.client)) {
        j->a.rcode = 5;
        return;
    }
    if (cache_lookup(j->q.name, &j->a.addr[0])) {
        w->cache_hits++;
        atomic_fetch_add_explicit(&stats.cache_hit, 1, memory_order_relaxed);
    } else {
        j->a.addr[0] = synthesize(w, &j->q);
        atomic_fetch_add_explicit(&stats.cache_miss, 1, memory_order_relaxed);
    }
    j->a.addr[1] = atomic_fetch_add_explicit(&opts.serial, 1, memory_order_relaxed);
    if (s->loop->flags & 1)
        fprintf(stderr, "worker %u: %s\n", w->id, j->q.name);
}

static void finish(struct server *s, struct job *j)
{
    struct job *old = atomic_load_explicit(&s->done->top, memory_order_relaxed);
    do
        j->next = old;
    while (!atomic_compare_exchange_weak_explicit(&s->done->top, &old, j, memory_order_release,
                                                  memory_order_relaxed));
    if (!old) {
        uint64_t one = 1;
        if (write(s->loop->wake_fd, &one, sizeof one) < 0)
            atomic_fetch_add(&stats.servfail, 1);
    }
}

void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct job *j;
    while ((j = queue_pop(w->srv->queue))) {
        resolve(w, j);
        w->handled++;
        finish(w->srv, j);
    }
    return NULL;
}
