#include "proto.h"
#include "flow.h"

static int parse_tcp(struct decoder *d, const struct pkt *p)
{
    struct flow *f = flow_update(d->flows, p);
    if (f && (p->flags & 1) && !f->closing)
        f->closing = 1;
    return 0;
}

static int parse_udp(struct decoder *d, const struct pkt *p)
{
    flow_update(d->flows, p);
    return 0;
}

static int parse_icmp(struct decoder *d, const struct pkt *p)
{
    d->last_proto = p->proto;
    return p->len < 8;
}

struct proto_ops protos[3] = {
    { "tcp",  parse_tcp,  20, 6,  0 },
    { "udp",  parse_udp,  8,  17, 0 },
    { "icmp", parse_icmp, 8,  1,  0 },
};

uint32_t pkt_csum(const struct pkt *p)
{
    uint32_t s = p->src ^ (p->dst * 31) ^ ((uint32_t)p->sport << 16 | p->dport);
    for (int i = 0; i < 8; i++)
        s = (s << 3 | s >> 29) + p->len * 17u + p->proto;
    return s;
}

int proto_dispatch(struct decoder *d, const struct pkt *p)
{
    struct proto_ops *o = &protos[p->hash >> 16 & 3 ? (p->hash >> 17 & 1) : 2];

    if (p->len < o->min_len)
        return -1;
    atomic_fetch_add_explicit(&o->seen, 1, memory_order_relaxed);
    if (conf.verify_csum && pkt_csum(p) != p->csum) {
        totals.bad_csum++;
        return -1;
    }
    return o->parse(d, p);
}
