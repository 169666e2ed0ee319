/* mq.h - a small in-process message broker */
#ifndef MQ_H
#define MQ_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_TOPICS 4
#define MAX_SUBS   4
#define MAX_PUBS   4
#define BODY_MAX   104

struct msg {
    uint64_t id;
    uint32_t topic;
    uint32_t len;
    uint64_t sum;
    unsigned char body[BODY_MAX];
};

/* single producer, single consumer */
struct ring {
    struct msg *slots;
    uint32_t    mask;
    uint32_t    owner;
    _Atomic uint64_t tail;      /* next slot to fill */
    _Atomic uint64_t head;      /* next slot to drain */
};

struct topic {
    char             name[16];
    uint32_t         flags;
    uint32_t         index;
    pthread_mutex_t  sub_lock;  /* protects cursor and last_digest */
    uint32_t         cursor;
    uint32_t         last_digest;
    _Atomic uint64_t published;
    uint64_t         rejected;
};

struct route {
    uint32_t prefix;
    uint32_t topic;
};

struct router {
    uint32_t      nroutes;
    uint32_t      fallback;
    uint64_t      lookups;      /* by the dispatcher */
    uint64_t      misses;
    struct route *routes;
};

/* tuning, plus the one gauge the flow control looks at */
struct broker_conf {
    uint32_t max_payload;
    uint32_t ack_every;
    uint32_t high_water;
    uint32_t trace;
    _Atomic int64_t inflight;
};

struct dead_letters {
    pthread_mutex_t lock;
    uint64_t        count;
    uint64_t        last_id;
};

struct publisher {
    uint32_t      id;
    uint32_t      rng;
    uint64_t      sent;
    uint64_t      stalls;
    struct ring  *out;
};

struct consumer {
    uint32_t id;
    uint32_t batch;
    uint64_t digest;
    uint64_t acked;
    struct ring *in;
    unsigned char scratch[BODY_MAX];
};

struct broker {
    struct router      *router;
    struct topic       *topics[MAX_TOPICS];
    struct ring        *in[MAX_PUBS];
    struct ring        *out[MAX_SUBS];
    int32_t            *credits;
    int                 npubs, nsubs;
    struct dead_letters dlq;
};

extern struct broker_conf conf;
extern struct broker      broker;
extern _Atomic uint64_t   next_msg_id;
extern int                broker_accepting;

struct ring *ring_new(uint32_t size, uint32_t owner);
bool ring_put(struct ring *r, const struct msg *m);
bool ring_take(struct ring *r, struct msg *m);

struct topic *topic_new(const char *name, uint32_t index);
void     topic_note_publish(struct topic *t, uint32_t len);
uint32_t topic_advance(struct topic *t, uint64_t digest);

struct router *router_new(uint32_t n);
uint32_t router_find(struct router *r, uint32_t key);
bool     router_accepts(const struct router *r, uint32_t key);

void stats_delivered(int sub, uint32_t len);
void stats_topic(uint32_t topic, uint32_t len);
void stats_ack(void);
void stats_error(void);
void stats_tick(void);
void stats_print(int nsubs);
uint64_t body_digest(const unsigned char *p, uint32_t n);
#endif
