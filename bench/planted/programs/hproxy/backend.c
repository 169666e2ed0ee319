/* servers: balancing, a synthetic origin, health checks */
#include "hproxy.h"
#include <unistd.h>

struct backend *default_be;
static unsigned check_errors;

static struct server *pick_rr(struct backend *be, unsigned hash)
{
    struct server *s;

    (void)hash;
    SPIN_LOCK(be);
    if (be->rr_left == 0) {
        be->rr_index = (be->rr_index + 1) % be->nsrv;
        be->rr_left = be->srv[be->rr_index]->uweight;
    }
    be->rr_left--;
    s = be->srv[be->rr_index];
    SPIN_UNLOCK(be);
    return s;
}

static struct server *pick_leastconn(struct backend *be, unsigned hash)
{
    struct server *s, *best = NULL;
    unsigned load = ~0u;

    (void)hash;
    for (s = be->head; s; s = s->next_srv) {
        unsigned l = HA_ATOMIC_LOAD(&s->cur_sess) * 16 / s->uweight;
        if (l < load && s->health) {
            load = l;
            best = s;
        }
    }
    return best;
}

static struct server *pick_hash(struct backend *be, unsigned hash)
{
    return be->srv[hash % be->nsrv];
}

static const struct { const char *algo; struct server *(*pick)(struct backend *, unsigned); } algos[] = {
    { "roundrobin", pick_rr }, { "leastconn", pick_leastconn }, { "uri", pick_hash },
};

void backend_init(const char *algo)
{
    struct backend *be = calloc(1, sizeof *be);

    if (!be)
        abort();
    be->pick = pick_rr;
    for (size_t i = 0; i < sizeof algos / sizeof algos[0]; i++)
        if (!strcmp(algos[i].algo, algo))
            be->pick = algos[i].pick;
    default_be = be;
}

int backend_add(const char *addr, unsigned weight)
{
    struct server *s;
    struct backend *be = default_be;

    if (!be || be->nsrv == MAX_SERVERS || !(s = calloc(1, sizeof *s)))
        return -1;
    s->uweight = weight ? weight : 1;
    s->sid = be->nsrv;
    s->health = 3;
    s->rise = 2;
    s->fall = 3;
    snprintf(s->addr, sizeof s->addr, "%s", addr);
    s->next_srv = be->head;
    be->head = s;
    be->srv[be->nsrv++] = s;
    return 0;
}

int server_fetch(struct server *s, unsigned path, char *out, int room)
{
    unsigned v = path * 2654435761u ^ s->sid;
    int n = 0;

    HA_ATOMIC_INC(&s->cur_sess);
    HA_ATOMIC_INC(&s->cum_sess);
    while (n < room && n < 32) {
        out[n++] = 'a' + (v & 15);
        v = v * 1103515245 + 12345;
        v ^= v >> 7;
    }
    HA_ATOMIC_DEC(&s->cur_sess);
    return n;
}

static unsigned probe(const struct server *s, unsigned seq)
{
    unsigned x = seq * 69069u + s->sid;

    for (int i = 0; i < 6; i++)
        x ^= x << 3, x ^= x >> 5;
    return x & 0xff;
}

void *health_main(void *arg)
{
    struct backend *be = arg;

    while (HA_ATOMIC_LOAD(&workers_left)) {
        for (struct server *s = be->head; s; s = s->next_srv) {
            unsigned lat = probe(s, s->check_seq);

            s->check_seq++;
            s->last_latency = (s->last_latency * 7 + lat) / 8;
            if (s->last_latency > 240) {
                check_errors++;
                if (s->health)
                    s->health--;
            } else if (s->health < s->rise)
                s->health++;
        }
        usleep(40);
    }
    return NULL;
}
