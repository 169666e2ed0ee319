/* Connections and the pool that they come from. */
#ifndef QUILL_CONN_H
#define QUILL_CONN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define CONN_REQ_MAX 160

enum conn_state { CONN_FREE, CONN_READING, CONN_WAITING, CONN_CLOSING };

struct conn {
    unsigned int id;
    atomic_int busy;               /* handed to a worker */
    unsigned int idle_ticks;       /* event loop: time since the last byte */
    unsigned int timer_slot;       /* event loop */
    unsigned long requests;        /* worker: of this keep-alive session */
    unsigned long body_bytes;      /* worker */
    int status;
    enum conn_state state;
    struct conn *next_free;
    size_t req_len;
    char req[CONN_REQ_MAX];
};

struct conn_pool {
    pthread_mutex_t lock;
    struct conn *free_list;
    unsigned int nfree;
    unsigned int low_water;
    struct conn *slab;
    unsigned int total;
};

struct conn_pool *conn_pool_new(unsigned int total);
void conn_pool_destroy(struct conn_pool *pool);
struct conn *conn_pool_get(struct conn_pool *pool);
void conn_pool_put(struct conn_pool *pool, struct conn *c);

#endif
