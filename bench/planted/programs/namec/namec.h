/*
 * namec: a caching stub resolver core with synthetic clients and upstreams.
 */
#ifndef _NAMEC_H
#define _NAMEC_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef uint8_t  u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define __aligned_line	__attribute__((aligned(64)))
#define READ_ONCE(x)	__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x,v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define container_of(p, t, m) ((t *)((char *)(p) - __builtin_offsetof(t, m)))

#define NR_CLIENTS_MAX	6
#define NR_UPSTREAMS	2
#define NAME_MAX_LEN	16

enum rcode { RC_OK, RC_MISS, RC_REFUSED, RC_NXDOMAIN };

struct list_head {
	struct list_head *next, *prev;
};

struct query {
	u32		hash;
	u32		client;
	u32		addr;
	u8		len;
	u8		rcode;
	char		name[NAME_MAX_LEN];
};

struct cache;
struct cache *cache_create(u32 nr_entries, u32 nr_buckets);
void cache_destroy(struct cache *c);
enum rcode cache_lookup(struct cache *c, struct query *q);
bool cache_insert(struct cache *c, const struct query *q, u32 ttl);
u32 cache_expire(struct cache *c, u32 budget);
void cache_print(const struct cache *c);

u32 clk_now(void);
void clk_advance(u32 ticks);
bool clk_trace_on(void);
u32 clk_ttl(u32 want);
void clk_setup(u32 ttl_min, u32 ttl_max, bool trace);

struct zone_set;
struct zone_set *zones_load(u32 nr);
void zones_free(struct zone_set *zs);
bool zones_deny(struct zone_set *zs, u32 hash);
void zones_reload(struct zone_set *zs);

struct limiter;
struct limiter *limiter_get(u32 client, u32 rate);
bool limiter_take(struct limiter *l, u32 now);

struct upstream_pool;
struct upstream_pool *upstream_start(struct cache *c);
void upstream_stop(struct upstream_pool *p);
void upstream_resolve(struct upstream_pool *p, struct query *q);
void upstream_print(const struct upstream_pool *p);

void journal_setup(u32 level);
u32 journal_level(void);
void journal_note(u32 client, u32 hash);
void journal_answer(u32 hash, u32 rtt);
u64 journal_digest(void);

struct client_args {
	u32			id;
	u32			nr_queries;
	u32			nr_names;
	struct cache		*cache;
	struct zone_set		*zones;
	struct upstream_pool	*ups;
	pthread_barrier_t	*gate;
};
void *client_thread(void *arg);
void clients_print(u32 nr);

static inline u32 name_hash(const char *s, u32 len)
{
	u32 h = 2166136261u;

	while (len--)
		h = (h ^ (u8)*s++) * 16777619u;
	return h;
}

#endif
