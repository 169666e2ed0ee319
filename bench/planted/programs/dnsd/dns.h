/* A caching resolver front end: an event loop, workers, and shared statistics. */
#ifndef DNS_H
#define DNS_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NAME_MAX_LEN 40
#define CACHE_SLOTS  512
#define RRL_SLOTS    64
#define NWORKERS     2

struct query {
    uint32_t client;
    uint16_t id;
    uint16_t qtype;
    char     name[NAME_MAX_LEN];
};

struct answer {
    uint32_t client;
    uint16_t id;
    uint16_t rcode;
    uint32_t addr[4];
};

struct job {
    struct job  *next;
    struct query q;
    struct answer a;
};

/* work handed to the pool; done jobs come back on a list the loop drains */
struct jobqueue {
    pthread_mutex_t lock;
    pthread_cond_t  more;
    struct job     *head, *tail;
    unsigned        depth;
    bool            closed;
};

struct donelist {
    struct job *_Atomic top;
    uint64_t  drained;      /* by the loop */
};

struct cache_entry {
    char      name[NAME_MAX_LEN];
    uint32_t  hash;
    uint32_t  addr;
    _Atomic uint32_t hits;
    uint32_t  ttl;
};

struct loop {
    int       epfd;
    int       client_fd;
    int       wake_fd;
    int       flags;
    uint64_t  iterations;
    uint64_t  timeouts;
    int64_t   now_ms;
};

struct server {
    struct loop     *loop;
    struct jobqueue *queue;
    struct donelist *done;
    struct worker   *workers;
};

struct worker {
    pthread_t     tid;
    struct server *srv;
    unsigned      id;
    uint32_t      salt;
    uint64_t      handled;
    uint64_t      cache_hits;
};

struct options {
    uint32_t max_depth;
    uint32_t rrl_limit;
    uint32_t default_ttl;
    uint32_t log_queries;
    _Atomic uint32_t serial;      /* of the answers, goes to the log */
};

/* everything the control channel shows */
struct server_stats {
    uint64_t          queries;          /* loop */
    uint64_t          responses;        /* loop */
    _Atomic uint64_t  cache_hit;        /* workers */
    _Atomic uint64_t  cache_miss;
    _Atomic uint64_t  formerr;          /* hardly ever */
    _Atomic uint64_t  servfail;
};

extern struct options      opts;
extern struct server_stats stats;

void  queue_init(struct jobqueue *q);
void  queue_push(struct jobqueue *q, struct job *j);
struct job *queue_pop(struct jobqueue *q);
void  queue_close(struct jobqueue *q);

void  cache_fill(void);
bool  cache_lookup(const char *name, uint32_t *addr);
bool  rrl_allow(uint32_t client);

void *worker_main(void *arg);
struct loop *loop_new(int client_fd);
long  loop_run(struct server *s);
uint32_t name_hash(const char *s);
#endif
