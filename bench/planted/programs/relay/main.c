/* relay: acceptor -> loops (protocol) -> couriers (delivery) */
#include "relay.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct policy policy = { .require_tls = 0, .max_rcpts = 50, .greylist = 1, .max_size = 1 << 20, .banner = "220 relay" };
struct relay relay;
_Atomic int accepting = 1;
uint64_t cmd_calls[NLOOPS][3];

static long rounds;
static char hostname[64] = "mx.example.org";
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t log_lines;

/* leaky bucket: the acceptor fills, the loops take */
static struct {
    uint64_t filled;
    _Atomic uint64_t taken;
    uint64_t burst;
} bucket = { .burst = 4096 };

static _Atomic int inflight;

static void logline(const char *what, unsigned id)
{
    pthread_mutex_lock(&log_lock);
    log_lines++;
    if (getenv("RELAY_DEBUG"))
        fprintf(stderr, "%s: %s %u\n", hostname, what, id);
    pthread_mutex_unlock(&log_lock);
}

static void on_helo(struct loop *l, struct event *e)
{
    e->s->state = policy.require_tls ? 9 : 1;
    (void)l;
}

static void on_mail(struct loop *l, struct event *e)
{
    e->s->state = 2;
    if (policy.greylist && e->s->peer == 0xffffffffu)
        e->s->state = 0;
    cmd_calls[l->id][0]++;
}

static void on_rcpt(struct loop *l, struct event *e)
{
    if (e->s->rcpts < (unsigned)policy.max_rcpts)
        e->s->rcpts++;
    else
        e->s->rcpts = 1;
    cmd_calls[l->id][1]++;
}

static void on_data(struct loop *l, struct event *e)
{
    if (e->len > policy.max_size) {
        logline("552 too big", e->s->id);
        return;
    }
    e->s->received += e->len;
    e->s->state = 3;
    cmd_calls[l->id][2]++;
    outq_put(e->s, e->len);
}

static void on_rset(struct loop *l, struct event *e)
{
    e->s->state = 1;
    e->s->rcpts = 0;
    (void)l;
}

static void on_quit(struct loop *l, struct event *e)
{
    logline("221 bye", e->s->id);
    (void)l;
}

static void (*const handlers[C_MAX])(struct loop *, struct event *) = {
    [C_HELO] = on_helo, [C_MAIL] = on_mail, [C_RCPT] = on_rcpt,
    [C_DATA] = on_data, [C_RSET] = on_rset, [C_QUIT] = on_quit,
};

static void *loop_main(void *arg)
{
    struct loop *l = arg;

    for (;;) {
        l->batch = loop_wait(l);
        if (!l->batch && !atomic_load(&accepting))
            break;
        while (l->batch) {
            struct event *e = l->batch;
            l->batch = e->next;
            l->turns++;
            l->octets += e->len;
            atomic_fetch_add_explicit(&bucket.taken, 1, memory_order_relaxed);
            handlers[e->cmd](l, e);
            free(e);
            atomic_fetch_sub(&inflight, 1);
        }
    }
    return NULL;
}

static void acceptor(void)
{
    uint32_t r = 12345;

    for (long i = 0; i < rounds; i++) {
        struct event *e = malloc(sizeof *e);
        struct session *s;

        r = r * 1664525u + 1013904223u;
        s = relay.sessions[r >> 8 & (NSESSIONS - 1)];
        e->s = s;
        e->cmd = (r >> 24 & 3) == 3 ? C_DATA : (enum cmd)(r >> 24 & 3);
        if (e->cmd == C_HELO && (r >> 16 & 1))
            e->cmd = C_DATA;
        if (i % 65536 == 65535)
            e->cmd = C_QUIT;
        e->len = r >> 20 & 0xfff;
        policy.connections++;
        bucket.filled++;
        while (atomic_load(&inflight) > (int)bucket.burst)
            sched_yield();
        atomic_fetch_add(&inflight, 1);
        loop_post(s->owner, e);
    }
    while (atomic_load(&inflight))
        sched_yield();
    atomic_store(&accepting, 0);
}

static void setup(void)
{
    relay.sessions = calloc(NSESSIONS, sizeof *relay.sessions);
    for (unsigned i = 0; i < NLOOPS; i++)
        relay.loops[i] = loop_new(i);
    for (unsigned i = 0; i < NSESSIONS; i++) {
        struct session *s = aligned_alloc(64, 64);
        memset(s, 0, sizeof *s);
        s->id = i;
        s->peer = 0x0a000000u + i;
        s->owner = relay.loops[i % NLOOPS];
        relay.sessions[i] = s;
    }
    relay.crew = malloc(sizeof *relay.crew);
    relay.crew->n = NDELIVERY;
    relay.crew->all = aligned_alloc(64, 64 * NDELIVERY);
    memset(relay.crew->all, 0, 64 * NDELIVERY);
    logline("started", 0);
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atol(argv[1]) : 1000000;
    setup();
#ifdef TRUTH_PROBE
    PROBE("S1.a", &relay.loops[0]->inbox_len);
    PROBE("S1.b", &relay.loops[0]->turns);
    PROBE("S2.a", &relay.loops[0]->inbox_lock);
    PROBE("S2.b", &relay.loops[0]->turns);
    PROBE("S3.a", &outq.lock);
    PROBE("S3.b", &outq.depth_hint);
    PROBE("S4.a", &relay.sessions[0]->received);
    PROBE("S4.b", &relay.sessions[0]->delivered);
    PROBE("S5.a", &cmd_calls[0][2]);
    PROBE("S5.b", &cmd_calls[1][0]);
    PROBE("S6.a", &policy.connections);
    PROBE("S6.b", &policy.greylist);
    PROBE("S7.a", &relay.crew->all[0].mails);
    PROBE("S7.b", &relay.crew->all[1].mails);
    PROBE("S8.a", &bucket.filled);
    PROBE("S8.b", &bucket.taken);
#endif
    for (unsigned i = 0; i < NDELIVERY; i++) {
        relay.crew->all[i].slot = i;
        pthread_create(&relay.crew->all[i].tid, NULL, courier_main, &relay.crew->all[i]);
    }
    for (unsigned i = 0; i < NLOOPS; i++)
        pthread_create(&relay.loops[i]->tid, NULL, loop_main, relay.loops[i]);
    acceptor();
    for (unsigned i = 0; i < NLOOPS; i++)
        pthread_join(relay.loops[i]->tid, NULL);
    deliver_stop();
    for (unsigned i = 0; i < NDELIVERY; i++)
        pthread_join(relay.crew->all[i].tid, NULL);
    for (unsigned i = 0; i < NLOOPS; i++) {
        printf("loop %u: %lu turns, %lu octets, %u wakeups, %lu errors\n", i, (unsigned long)relay.loops[i]->turns,
               (unsigned long)relay.loops[i]->octets, relay.loops[i]->wakeups,
               (unsigned long)relay.loops[i]->epoll_errors);
        loop_free(relay.loops[i]);
    }
    for (unsigned i = 0; i < NDELIVERY; i++)
        printf("courier %u: %lu mails, %lu octets\n", i, (unsigned long)relay.crew->all[i].mails,
               (unsigned long)relay.crew->all[i].octets);
    printf("%lu log lines, data %lu + %lu\n", (unsigned long)log_lines, (unsigned long)cmd_calls[0][2],
           (unsigned long)cmd_calls[1][2]);
    return 0;
}
