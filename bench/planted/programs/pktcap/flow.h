#ifndef FLOW_H
#define FLOW_H
#include "ring.h"
#include <pthread.h>

#define FLOW_BUCKETS 256

struct flow {
    struct flow *next;
    uint32_t src, dst;
    uint16_t sport, dport;
    uint8_t  proto;
    uint8_t  closing;
    uint64_t packets;        /* decoder */
    uint64_t bytes;          /* decoder */
    uint64_t exported;       /* exporter: packets already reported */
    uint64_t first_ts;
};

struct bucket {
    pthread_mutex_t lock;
    struct flow *head;
};

struct flow_table {
    struct bucket *b;
    struct flow  **index;    /* flat list for the exporter */
    _Atomic uint32_t nflows;
    uint32_t max;
    uint64_t table_full;     /* never, unless misconfigured */
};

struct flow_table *flow_table_new(uint32_t max);
struct flow *flow_update(struct flow_table *t, const struct pkt *p);
uint64_t flow_export(struct flow_table *t, uint32_t i);
void flow_table_free(struct flow_table *t);
#endif
