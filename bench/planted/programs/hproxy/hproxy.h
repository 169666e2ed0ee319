/*
 * hproxy - a small caching HTTP reverse proxy
 *
 * One process, a handful of event loops.  Everything that more than one of
 * the source files needs is declared here.
 */
#ifndef HPROXY_H
#define HPROXY_H

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORKERS   4
#define MAX_CLIENTS   4
#define MAX_SERVERS   6
#define CONNS_PER_CLIENT 3
#define BUFSZ         1024

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define HA_ATOMIC_INC(p)      __atomic_add_fetch((p), 1, __ATOMIC_RELAXED)
#define HA_ATOMIC_DEC(p)      __atomic_sub_fetch((p), 1, __ATOMIC_RELAXED)
#define HA_ATOMIC_ADD(p, v)   __atomic_add_fetch((p), (v), __ATOMIC_RELAXED)
#define HA_ATOMIC_LOAD(p)     __atomic_load_n((p), __ATOMIC_RELAXED)
#define HA_ATOMIC_STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)

/* ---- spin locks -------------------------------------------------------- */
typedef struct { unsigned val; } hp_spin_t;
void hp_spin_wait(hp_spin_t *l);
static inline void hp_spin_lock(hp_spin_t *l)
{
    if (unlikely(__atomic_exchange_n(&l->val, 1, __ATOMIC_ACQUIRE)))
        hp_spin_wait(l);
}
static inline void hp_spin_unlock(hp_spin_t *l)
{
    __atomic_store_n(&l->val, 0, __ATOMIC_RELEASE);
}
#define SPIN_LOCK(l)   hp_spin_lock(&(l)->lock)
#define SPIN_UNLOCK(l) hp_spin_unlock(&(l)->lock)

/* ---- intrusive lists --------------------------------------------------- */
struct list { struct list *n, *p; };
#define LIST_INIT(l)       ((l)->n = (l)->p = (l))
#define LIST_ISEMPTY(l)    ((l)->n == (l))
#define LIST_APPEND(h, e)  do { (e)->p = (h)->p; (e)->n = (h); (h)->p->n = (e); (h)->p = (e); } while (0)
#define LIST_DELETE(e)     do { (e)->n->p = (e)->p; (e)->p->n = (e)->n; } while (0)
#define LIST_ELEM(e, t, m) ((t *)((char *)(e) - offsetof(t, m)))

/* ---- configuration ----------------------------------------------------- */
struct global_conf {
    int nbworkers;
    int nbclients;
    int rounds;
    int verbose;
    char pidfile[32];
};
extern struct global_conf conf;

/* process wide state, filled by the parser and by the workers */
struct global {
    unsigned maxconn;          /* "maxconn" */
    unsigned tune_maxrewrite;  /* "tune.maxrewrite" */
    unsigned tune_ratelimit;   /* "tune.ratelimit" */
    unsigned req_count;        /* requests since start */
    unsigned long bytes_out;   /* bytes sent since start */
    unsigned mode;
};
extern struct global global;

extern volatile sig_atomic_t stopping;
extern unsigned now_ms;          /* updated by the clock thread only */
extern unsigned date_seq;
extern int clients_left, workers_left;

int  parse_config(const char *text);

/* ---- logging ----------------------------------------------------------- */
enum { LOG_ERR_ = 0, LOG_WARN_, LOG_NOTE_, LOG_DBG_ };
#define hp_log(lvl, ...) do { if ((lvl) <= log_level) hp_log_real(lvl, __VA_ARGS__); } while (0)
extern int log_level;
void hp_log_real(int lvl, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define ACCESS_SLOTS 256
struct access_rec { uint32_t when; uint16_t worker, status; uint32_t bytes; uint32_t path; };
struct access_log {
    hp_spin_t lock;
    unsigned prod;             /* next slot to fill */
    unsigned cons;             /* next slot to write out */
    unsigned lost;
    struct access_rec *slots;
};
extern struct access_log *alog;
void access_log_init(void);
int  access_log_push(const struct access_rec *r);
void *access_log_main(void *arg);

/* ---- memory pools ------------------------------------------------------ */
struct pool_item { struct pool_item *next; };
struct pool_head {
    hp_spin_t lock;
    unsigned used, allocated;
    struct pool_item *free_list;
    unsigned size;             /* size of one object */
    unsigned limit;
    const char *pname;
};
struct pool_head *pool_create(const char *name, unsigned size, unsigned limit);
void *pool_alloc(struct pool_head *p);
void  pool_free(struct pool_head *p, void *ptr);

/* ---- servers ----------------------------------------------------------- */
struct server {
    struct server *next_srv;
    unsigned uweight;
    unsigned sid;
    unsigned cur_sess;         /* sessions running on this server */
    unsigned cum_sess;
    uint16_t health, rise, fall, inter;
    uint32_t check_seq;        /* health checker */
    uint32_t last_latency;
    char     addr[24];
};
struct backend {
    hp_spin_t lock;
    unsigned rr_index;
    unsigned rr_left;
    unsigned nsrv;
    struct server *(*pick)(struct backend *be, unsigned hash);
    struct server *srv[MAX_SERVERS];
    struct server *head;
};
extern struct backend *default_be;
void backend_init(const char *algo);
int  backend_add(const char *addr, unsigned weight);
int  server_fetch(struct server *s, unsigned path, char *out, int room);
void *health_main(void *arg);

/* ---- cache ------------------------------------------------------------- */
struct cache_entry {
    struct cache_entry *chain;
    uint32_t key;
    uint32_t refs;
    uint32_t hits;
    uint16_t blen, cstate;
    char body[40];
};
void cache_init(void);
struct cache_entry *cache_get(uint32_t key);
struct cache_entry *cache_put(uint32_t key, const char *body, int len);
void cache_release(struct cache_entry *e);
void cache_dump(void);

/* ---- rate limiting ----------------------------------------------------- */
struct rate_entry { uint32_t src; uint32_t curr; uint32_t prev; uint32_t tick; };
int rate_check(unsigned src);

/* ---- connections and workers ------------------------------------------- */
enum conn_state { CS_IDLE, CS_READ, CS_WRITE, CS_CLOSED };
struct conn {
    int fd;
    uint16_t state, flags;
    uint32_t nreq;
    uint32_t src;
    uint32_t expire;
    struct list timer;
};
struct wheel { uint32_t wtick; uint32_t armed; struct list *wslots; };

struct thread_counters { uint32_t loops; uint32_t reqs; uint32_t hits; uint32_t misses; uint64_t out; };
struct thread_pad { uint64_t busy_ns, idle_loops; } __attribute__((aligned(64)));

struct worker {
    int tid;
    int epfd;
    int nconn;
    struct wheel *wheel;
    pthread_t thr;
    unsigned checksum;
    struct conn *conns[MAX_CLIENTS * CONNS_PER_CLIENT];
};
extern struct worker *workers[MAX_WORKERS];
extern struct thread_counters thread_counters[MAX_WORKERS];
extern unsigned char thread_idle[MAX_WORKERS];

struct worker *worker_new(int tid);
int   worker_add_conn(struct worker *w, int fd, unsigned src);
void *worker_main(void *arg);
void  worker_dump(void);

void wheel_arm(struct wheel *w, struct conn *c, unsigned delay);
int  wheel_run(struct wheel *w, unsigned now);

/* request parser */
struct request { unsigned path; unsigned nhdr; int keepalive; int len; };
int parse_request(const char *b, int n, struct request *r);

/* actions registered at start */
typedef int (*action_fn)(struct request *r, struct conn *c);
struct action { const char *kw; action_fn fn; unsigned runs; unsigned denied; };
void action_register(const char *kw, action_fn fn);
int  action_run_all(struct request *r, struct conn *c);
void actions_builtin(void);

/* load generator */
void *client_main(void *arg);
void  client_setup(void);
unsigned client_result(void);

#endif
