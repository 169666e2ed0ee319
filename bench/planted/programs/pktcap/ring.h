#ifndef RING_H
#define RING_H
#include <stddef.h>
#include <stdint.h>
#include <stdatomic.h>

struct pkt {
    uint32_t src, dst;
    uint16_t sport, dport;
    uint8_t  proto;
    uint8_t  flags;
    uint16_t len;
    uint32_t hash;
    uint32_t csum;
    uint64_t ts;
};

/* one producer, one consumer */
struct ring {
    struct pkt *slot;
    uint32_t mask;
    uint32_t id;
    _Atomic uint32_t wr;
    _Atomic uint32_t rd;
    uint64_t high_water;     /* set once, when sized */
};

struct ring *ring_new(uint32_t id, uint32_t size);
void ring_free(struct ring *r);
int  ring_put(struct ring *r, const struct pkt *p);
int  ring_get(struct ring *r, struct pkt *out);
#endif
