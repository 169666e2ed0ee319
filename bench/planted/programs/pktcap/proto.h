#ifndef PROTO_H
#define PROTO_H
#include "ring.h"

struct decoder;

struct proto_ops {
    const char *name;
    int (*parse)(struct decoder *d, const struct pkt *p);
    uint32_t min_len;
    uint32_t number;
    _Atomic uint64_t seen;
};

struct decoder {
    uint64_t packets;
    uint64_t bytes;
    uint32_t id;
    uint32_t last_proto;
    struct ring *in;
    struct flow_table *flows;
};

extern struct proto_ops protos[3];

struct capture_conf {
    int snaplen;
    int promiscuous;
    int verify_csum;
    int sample_every;
    uint64_t seq;            /* sequence number of the last frame seen */
    uint64_t started_at;
};
extern struct capture_conf conf;

struct totals {
    uint64_t captured;
    uint64_t captured_bytes;
    uint64_t ring_init_us;
    _Atomic uint64_t decoded;
    uint64_t bad_csum;
    uint64_t exported;
};
extern struct totals totals;

int proto_dispatch(struct decoder *d, const struct pkt *p);
uint32_t pkt_csum(const struct pkt *p);
#endif
