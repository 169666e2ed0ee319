/* event loops */
#include "hproxy.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#define WHEEL_SLOTS 32

struct worker *workers[MAX_WORKERS];
struct thread_counters thread_counters[MAX_WORKERS];
unsigned char thread_idle[MAX_WORKERS];
static struct thread_pad thread_pad[MAX_WORKERS];
static struct pool_head *pool_buf;
static unsigned bad_requests, short_writes;
static __thread struct worker *self;

static struct action actions[8];
static int nactions;

/* ---- timers ------------------------------------------------------------ */
void wheel_arm(struct wheel *w, struct conn *c, unsigned delay)
{
    if (c->timer.n)
        LIST_DELETE(&c->timer);
    else
        w->armed++;
    c->expire = w->wtick + delay;
    LIST_APPEND(&w->wslots[c->expire % WHEEL_SLOTS], &c->timer);
}

int wheel_run(struct wheel *w, unsigned now)
{
    int fired = 0, steps = 0;

    while (w->wtick != now && steps++ < 4) {
        struct list *h = &w->wslots[++w->wtick % WHEEL_SLOTS], *e, *n;

        for (e = h->n; e != h; e = n) {
            struct conn *c = LIST_ELEM(e, struct conn, timer);
            n = e->n;
            if ((int)(c->expire - w->wtick) > 0)
                continue;
            LIST_DELETE(e);
            c->timer.n = NULL;
            w->armed--;
            c->flags |= 2;           /* idle too long, keep it all the same */
            fired++;
        }
    }
    return fired;
}

/* ---- actions ----------------------------------------------------------- */
void action_register(const char *kw, action_fn fn)
{
    if (nactions < 8) {
        actions[nactions].kw = kw;
        actions[nactions++].fn = fn;
    }
}

int action_run_all(struct request *r, struct conn *c)
{
    for (int i = 0; i < nactions; i++) {
        actions[i].runs++;
        if (actions[i].fn(r, c)) {
            actions[i].denied++;
            return -1;
        }
    }
    return 0;
}

static int act_rate(struct request *r, struct conn *c)   { (void)r; return rate_check(c->src); }
static int act_method(struct request *r, struct conn *c) { (void)c; return r->len > (int)(BUFSZ - global.tune_maxrewrite); }
static int act_keep(struct request *r, struct conn *c)   { c->flags = (c->flags & ~1) | (r->keepalive != 0); return 0; }

void actions_builtin(void)
{
    action_register("track-sc0", act_rate);
    action_register("http-request deny", act_method);
    action_register("option http-keep-alive", act_keep);
    pool_buf = pool_create("buffer", BUFSZ, 64);
}

/* ---- HTTP -------------------------------------------------------------- */
int parse_request(const char *b, int n, struct request *r)
{
    const char *p = b, *e = b + n;
    unsigned h = 0;

    if (n < 16 || memcmp(p, "GET /", 5))
        return -1;
    for (p += 5; p < e && *p != ' '; p++)
        h = h * 10 + (*p - '0');
    r->path = h;
    r->nhdr = 0;
    r->keepalive = 1;
    while (p < e && (p = memchr(p, '\n', e - p))) {
        p++;
        if (p < e && *p == '\r') {
            r->len = p + 2 - b;
            return 0;
        }
        if (e - p > 12 && *p == 'C' && !memcmp(p, "Connection: c", 13))
            r->keepalive = 0;
        r->nhdr++;
    }
    return -1;
}

static int build_reply(char *o, const char *body, int len)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: ";
    int n = sizeof head - 1;

    memcpy(o, head, n);
    o[n++] = '0' + len / 10;
    o[n++] = '0' + len % 10;
    memcpy(o + n, "\r\n\r\n", 4);
    memcpy(o + n + 4, body, len);
    return n + 4 + len;
}

static int serve(struct worker *w, struct conn *c, struct request *rq, char *out)
{
    struct thread_counters *tc = &thread_counters[w->tid];
    struct access_rec rec;
    struct cache_entry *ce;
    int n;

    if (action_run_all(rq, c)) {
        n = build_reply(out, "denied", 6);
        rec.status = 429;
    } else if ((ce = cache_get(rq->path))) {
        n = build_reply(out, ce->body, ce->blen);
        w->checksum += ce->body[0];
        cache_release(ce);
        tc->hits++;
        rec.status = 200;
    } else {
        char body[40];
        struct server *s = default_be->pick(default_be, rq->path);
        int len;

        if (!s) {
            rec.status = 503;
            len = 0;
        } else {
            len = server_fetch(s, rq->path, body, sizeof body);
            rec.status = 200;
        }
        n = build_reply(out, body, len);
        if (len && (ce = cache_put(rq->path, body, len)))
            cache_release(ce);
        tc->misses++;
    }
    tc->reqs++;
    tc->out += n;
    c->nreq++;
    HA_ATOMIC_INC(&global.req_count);
    HA_ATOMIC_ADD(&global.bytes_out, n);
    rec.when = HA_ATOMIC_LOAD(&now_ms);
    rec.worker = w->tid;
    rec.bytes = n;
    rec.path = rq->path;
    access_log_push(&rec);
    return n;
}

static int conn_io(struct worker *w, struct conn *c)
{
    char *in = pool_alloc(pool_buf), *out = pool_alloc(pool_buf);
    int n, off = 0, o = 0, ret = 0;

    if (!in || !out) {
        pool_free(pool_buf, in);
        pool_free(pool_buf, out);
        return 0;
    }
    c->state = CS_READ;
    n = read(c->fd, in, BUFSZ);
    if (n <= 0) {
        ret = (n == 0 || errno != EAGAIN) ? -1 : 0;
        goto done;
    }
    while (off < n) {
        struct request rq;
        if (parse_request(in + off, n - off, &rq)) {
            HA_ATOMIC_INC(&bad_requests);
            break;
        }
        off += rq.len;
        if (o > BUFSZ - 128)
            break;
        o += serve(w, c, &rq, out + o);
    }
    c->state = CS_WRITE;
    if (write(c->fd, out, o) != o)
        HA_ATOMIC_INC(&short_writes);
    wheel_arm(w->wheel, c, 20);
    c->state = CS_IDLE;
done:
    pool_free(pool_buf, in);
    pool_free(pool_buf, out);
    return ret;
}

static void conn_close(struct worker *w, struct conn *c)
{
    epoll_ctl(w->epfd, EPOLL_CTL_DEL, c->fd, NULL);
    close(c->fd);
    if (c->timer.n)
        LIST_DELETE(&c->timer);
    c->state = CS_CLOSED;
    w->nconn--;
}

struct worker *worker_new(int tid)
{
    struct worker *w = calloc(1, sizeof *w);

    if (!w)
        abort();
    w->tid = tid;
    w->epfd = epoll_create1(EPOLL_CLOEXEC);
    return workers[tid] = w;
}

int worker_add_conn(struct worker *w, int fd, unsigned src)
{
    struct epoll_event ev = { .events = EPOLLIN };
    struct conn *c = calloc(1, sizeof *c);

    if (!c)
        return -1;
    if (!w->wheel) {
        w->wheel = calloc(1, sizeof *w->wheel);
        w->wheel->wslots = calloc(WHEEL_SLOTS, sizeof(struct list));
        for (int i = 0; i < WHEEL_SLOTS; i++)
            LIST_INIT(&w->wheel->wslots[i]);
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    c->fd = fd;
    c->src = src;
    ev.data.ptr = c;
    w->conns[w->nconn++] = c;
    return epoll_ctl(w->epfd, EPOLL_CTL_ADD, fd, &ev);
}

void *worker_main(void *arg)
{
    struct worker *w = self = arg;
    struct epoll_event ev[8];

    while (w->nconn > 0 && !stopping) {
        int n;

        thread_idle[w->tid] = 1;
        n = epoll_wait(w->epfd, ev, 8, 50);
        thread_idle[w->tid] = 0;
        thread_counters[w->tid].loops++;
        if (n <= 0) {
            thread_pad[w->tid].idle_loops++;
            continue;
        }
        for (int i = 0; i < n; i++) {
            struct conn *c = ev[i].data.ptr;
            if (conn_io(w, c))
                conn_close(w, c);
        }
        wheel_run(w->wheel, HA_ATOMIC_LOAD(&now_ms));
        thread_pad[w->tid].busy_ns += n;
    }
    HA_ATOMIC_DEC(&workers_left);
    return NULL;
}

void worker_dump(void)
{
    for (int i = 0; i < conf.nbworkers; i++) {
        struct thread_counters *t = &thread_counters[i];
        hp_log(LOG_NOTE_, "worker %d: %u loops %u requests %u hits %u misses %lu bytes, idle %lu", i, t->loops, t->reqs,
               t->hits, t->misses, (unsigned long)t->out, (unsigned long)thread_pad[i].idle_loops);
    }
    for (int i = 0; i < nactions; i++)
        hp_log(LOG_DBG_, "action %s: %u runs, %u denied", actions[i].kw, actions[i].runs, actions[i].denied);
    if (bad_requests || short_writes)
        hp_log(LOG_WARN_, "%u bad requests, %u short writes", bad_requests, short_writes);
}
