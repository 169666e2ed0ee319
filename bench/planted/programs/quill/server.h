/* What the threads of the server share. */
#ifndef QUILL_SERVER_H
#define QUILL_SERVER_H

#include <stdalign.h>

#include "conn.h"
#include "inbox.h"

#define NWORKERS 3
#define NCONNS 48

struct worker {
    unsigned int id;
    unsigned int seed;
    struct inbox *inbox;
    pthread_t thread;
    unsigned long assigned;        /* event loop: requests handed over */
    unsigned long served;
    unsigned long bytes_out;
    unsigned long bad_requests;
    char *outbuf;
    unsigned int outcap;
    unsigned int outlen;
};

struct server {
    const char *name;
    int port;
    unsigned int keepalive_max;    /* workers: per request */
    unsigned int max_body;         /* workers: per request */
    unsigned int sweep;            /* event loop */
    unsigned long accepted;        /* event loop */
    unsigned long deferred;        /* event loop */
    struct conn_pool *pool;
};

struct access_log {
    pthread_mutex_t lock;
    unsigned int level;            /* the event loop looks before it logs */
    unsigned int used;
    unsigned long lines;
    char buf[512];
};

struct totals {
    alignas(64) unsigned long served;
    alignas(64) unsigned long bytes;
};

extern struct server srv;
extern struct worker workers[NWORKERS];
extern struct totals totals;
extern atomic_int stopping;
extern atomic_ulong clock_ms;
extern atomic_ulong inflight_bytes;

/* routes.c */
int route_dispatch(const char *path, size_t len, struct conn *c, char *out, unsigned int cap);
void routes_print(void);

/* log.c */
void log_open(unsigned int level);
void log_access(const struct conn *c, int status);
void log_defer(unsigned int worker);
void log_close(void);

/* worker.c */
void *worker_main(void *arg);

/* event.c */
void *event_main(void *arg);
extern unsigned long event_rounds;

/* ticker.c */
void *ticker_main(void *arg);

#endif
