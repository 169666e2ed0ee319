/* dnscached: a small caching resolver core (no network: socketpairs) */
#ifndef DNSCACHED_H
#define DNSCACHED_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#define MAX_WORKERS 4
#define NAME_MAX_LEN 24
#define NBUCKETS 16
#define CACHELINE 64

enum rcode { RC_OK, RC_NXDOMAIN, RC_SERVFAIL, RC_REFUSED, RC_MAX };
enum qtype { QT_A = 1, QT_TXT = 16 };
struct query {
	uint16_t id;
	uint16_t type;
	uint32_t sent_at;
	char name[NAME_MAX_LEN];
};
/* one record of the cache; lives on a bucket chain */
struct entry {
	struct entry *next;
	uint64_t hash;
	char name[NAME_MAX_LEN];
	uint32_t addr;
	uint32_t ttl;
	uint32_t age;           /* advanced by the janitor */
	uint32_t flags;
};
/* zone data handed out to the workers, counted */
struct zone {
	atomic_int refs;
	uint32_t serial;
	uint32_t default_ttl;
	const char *origin;
	size_t origin_len;
};
/* the daemon: parsed configuration and a few live numbers */
struct server {
	int nworkers;
	int listen_port;
	char *pidfile;
	char motd[32];
	uint64_t cfg_lines;
	/* consulted for every query */
	uint32_t max_ttl;
	uint32_t neg_ttl;
	uint32_t minimal_any;
	uint32_t qname_limit;
	/* janitor */
	uint64_t scanned;
	uint64_t sweeps;
} ;

/* private state of a worker thread */
struct worker {
	int id;
	int fd;
	pthread_t tid;
	uint64_t answered;
	uint64_t misses;
	struct ring *out;
};
/* what a worker publishes at its own pace */
struct wstat {
	uint64_t bytes;
	uint64_t longest;
	uint64_t truncated;
} __attribute__((aligned(CACHELINE)));

struct reply {
	uint32_t serial;
	uint16_t id;
	uint8_t rcode;
	uint8_t worker;
	uint32_t addr;
};
#define RING_SIZE 256
/* worker -> collector, single producer and single consumer */
struct ring {
	struct reply *slot;
	unsigned mask;
	_Atomic unsigned head;      /* producer */
	unsigned pad_prod[5];
	_Atomic unsigned tail;      /* consumer */
	unsigned drained;
};
struct errstat {
	uint64_t short_read;
	uint64_t bad_name;
	uint64_t bad_type;
};
extern struct server g_srv;
extern struct wstat g_wstat[MAX_WORKERS];
extern struct errstat g_err;
extern uint32_t g_rcodes[MAX_WORKERS][RC_MAX];
extern struct zone *g_zone;
extern atomic_int g_stop;
extern atomic_ulong g_inflight;

/* config.c */
int config_load(const char *text);
long load_scale(void);

/* cache.c */
int cache_init(void);
int cache_lookup(const char *name, uint32_t *addr);
int cache_insert(const char *name, uint32_t addr, uint32_t ttl);
int cache_touch(const char *name);
int cache_sweep_bucket(unsigned b);
size_t cache_size(void);
uint64_t name_hash(const char *s);

/* stats.c */
void stats_rcode(int worker, int rc);
void stats_reply(int worker, size_t len);
void stats_error(int what);
void stats_print(FILE *f);
void trail_push(uint32_t addr);
unsigned trail_count(void);

#endif
