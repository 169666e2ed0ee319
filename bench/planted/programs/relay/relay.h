#ifndef RELAY_H
#define RELAY_H
#include "loop.h"

#define NLOOPS 2
#define NDELIVERY 2
#define NSESSIONS 32

struct session {
    uint32_t id;
    uint32_t peer;
    int state;               /* loop */
    uint32_t rcpts;          /* loop */
    uint64_t received;       /* loop: octets of the body */
    uint64_t delivered;      /* delivery: octets passed on */
    uint32_t attempts;       /* delivery */
    uint32_t bounces;        /* delivery; the test has none */
    struct loop *owner;
};

struct mail {
    struct mail *next;
    struct session *s;
    uint32_t size;
    uint32_t prio;
};

struct outq {
    pthread_mutex_t lock;
    struct mail *first;
    uint64_t depth_hint;     /* loops: how much they have put, unlocked */
};

struct courier {
    pthread_t tid;
    unsigned slot;
    uint64_t mails;
    uint64_t octets;
};

struct policy {
    int require_tls;
    int max_rcpts;
    int greylist;
    uint32_t max_size;
    uint64_t connections;    /* acceptor */
    char banner[32];
};

struct crew {
    struct courier *all;
    unsigned n;
};

struct relay {
    struct loop *loops[NLOOPS];
    struct crew *crew;
    struct session **sessions;
};

extern struct policy policy;
extern struct outq outq;
extern uint64_t cmd_calls[NLOOPS][3];
extern struct relay relay;
extern _Atomic int accepting;

void outq_put(struct session *s, uint32_t size);
struct mail *outq_take(void);
void *courier_main(void *arg);
void deliver_stop(void);
#endif
