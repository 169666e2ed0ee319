#include <sched.h>
#include <string.h>

#include "server.h"

/* Scratch of a worker, on lines of its own. */
struct scratch {
    alignas(64) unsigned int hash;
    unsigned int spaces;
    unsigned int loops;
};

static struct scratch scratch[NWORKERS];
static unsigned long parse_failures;
static unsigned long heartbeat;

static size_t parse_path(struct scratch *s, const struct conn *c, const char **path)
{
    size_t i = 0, start;

    while (i < c->req_len && c->req[i] != ' ')
        i++;
    if (i == c->req_len)
        return 0;
    start = ++i;
    while (i < c->req_len && c->req[i] != ' ') {
        s->hash = s->hash * 33 + (unsigned char)c->req[i];
        i++;
    }
    s->spaces += 2;
    *path = c->req + start;
    return i - start;
}

static void serve(struct worker *w, struct conn *c)
{
    struct scratch *s = &scratch[w->id];
    const char *path = NULL;
    size_t len = parse_path(s, c, &path);
    int n = -1;

    if (len)
        n = route_dispatch(path, len, c, w->outbuf, w->outcap);
    if (n < 0) {
        w->bad_requests++;
        parse_failures++;
        return;
    }
    if ((unsigned int)n > srv.max_body)
        n = (int)srv.max_body;
    w->outlen = (unsigned int)n;
    w->served++;
    w->bytes_out += (unsigned long)n;
    c->body_bytes += (unsigned long)n;
    if (++c->requests >= srv.keepalive_max)
        c->requests = 0;
    atomic_fetch_sub_explicit(&inflight_bytes, c->req_len, memory_order_relaxed);
    log_access(c, c->status);
}

void *worker_main(void *arg)
{
    struct worker *w = arg;

    for (;;) {
        struct conn *c = inbox_pop(w->inbox);

        if (!c) {
            if (atomic_load_explicit(&stopping, memory_order_acquire))
                break;
            sched_yield();
            continue;
        }
        if ((++scratch[w->id].loops & 4095) == 0)
            heartbeat++;
        serve(w, c);
        atomic_store_explicit(&c->busy, 0, memory_order_release);
    }
    return NULL;
}
