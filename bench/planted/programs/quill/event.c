#include <sched.h>
#include <string.h>

#include "server.h"

unsigned long event_rounds;

/* The clients of the simulation: what they send, in turn. */
static const char *const scripts[] = {
    "GET / HTTP/1.1\r\nHost: quill\r\n\r\n",
    "GET /status HTTP/1.1\r\nHost: quill\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: quill\r\n\r\nabc",
    "GET / HTTP/1.1\r\nHost: other\r\n\r\n",
    "GET /favicon.ico HTTP/1.1\r\n\r\n",
};

static struct conn *live[NCONNS];
static unsigned int nlive;
static unsigned int sweep_at;

static void sweep_timers(void)
{
    for (unsigned int i = 0; i < srv.sweep; i++) {
        struct conn *c = live[sweep_at];

        c->idle_ticks++;
        c->timer_slot = c->idle_ticks & 63u;
        sweep_at = sweep_at + 1 == nlive ? 0 : sweep_at + 1;
    }
}

static void receive(struct conn *c, unsigned long round)
{
    const char *text = scripts[round % (sizeof(scripts) / sizeof(scripts[0]))];

    c->req_len = strlen(text);
    memcpy(c->req, text, c->req_len);
    c->state = CONN_WAITING;
    atomic_fetch_add_explicit(&inflight_bytes, c->req_len, memory_order_relaxed);
}

void *event_main(void *arg)
{
    unsigned int next = 0, turn = 0;

    (void)arg;
    while (nlive < NCONNS - 4) {
        live[nlive] = conn_pool_get(srv.pool);
        live[nlive]->state = CONN_READING;
        nlive++;
    }
    for (unsigned long round = 0; round < event_rounds; round++) {
        struct conn *c = live[next];
        struct worker *w = &workers[turn];

        next = next + 1 == nlive ? 0 : next + 1;
        turn = turn + 1 == NWORKERS ? 0 : turn + 1;
        sweep_timers();
        while (atomic_load_explicit(&c->busy, memory_order_acquire))
            sched_yield();
        if ((round & 1023) == 1023) {       /* the client went away, another came */
            conn_pool_put(srv.pool, c);
            c = conn_pool_get(srv.pool);
        }
        receive(c, round);
        atomic_store_explicit(&c->busy, 1, memory_order_relaxed);
        log_defer(w->id);
        while (!inbox_push(w->inbox, c)) {
            srv.deferred++;
            sched_yield();
        }
        w->assigned++;
        srv.accepted++;
    }
    atomic_store_explicit(&stopping, 1, memory_order_release);
    return NULL;
}
