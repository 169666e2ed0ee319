#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "namec.h"

#define MAX_USES	8

struct entry {
	struct entry	*next;
	u32		hash;
	u32		addr;
	u32		hits;
	u32		expires;
	char		name[NAME_MAX_LEN];
	u32		spare[2];
	u8		len;
};

struct bucket {
	u32		lock;
	u32		count;
	struct entry	*first;
};

struct free_pool {
	u32		lock;
	u32		nr;
	struct entry	*list;
	u32		hand;
	u32		sweeps;
	u64		scanned;
};

struct cache_stats {
	u64		hits;
	u64		inserts;
	u64		expired;
	u64		collisions;
};

struct cache {
	u32			mask;
	u32			nr_entries;
	struct bucket		*buckets;
	struct entry		*entries;
	struct cache_stats	st __aligned_line;
	struct free_pool	pool __aligned_line;
	u64			evict_failures __aligned_line;
};

static void bit_lock(u32 *lock)
{
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void bit_unlock(u32 *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

struct cache *cache_create(u32 nr_entries, u32 nr_buckets)
{
	struct cache *c = aligned_alloc(64, sizeof(*c));

	if (!c)
		return NULL;
	memset(c, 0, sizeof(*c));
	c->mask = nr_buckets - 1;
	c->nr_entries = nr_entries;
	c->buckets = calloc(nr_buckets, sizeof(*c->buckets));
	c->entries = aligned_alloc(64, nr_entries * sizeof(*c->entries));
	if (!c->buckets || !c->entries)
		return NULL;
	memset(c->entries, 0, nr_entries * sizeof(*c->entries));
	for (u32 i = 0; i < nr_entries; i++) {
		c->entries[i].next = c->pool.list;
		c->pool.list = &c->entries[i];
		c->pool.nr++;
	}
	return c;
}

void cache_destroy(struct cache *c)
{
	free(c->entries);
	free(c->buckets);
	free(c);
}

static bool entry_matches(const struct entry *e, const struct query *q)
{
	if (e->hash != q->hash || e->len != q->len)
		return false;
	for (u32 i = 0; i < e->len; i++)
		if (e->name[i] != q->name[i])
			return false;
	return true;
}

static struct entry *pool_get(struct free_pool *p)
{
	struct entry *e;

	while (__atomic_exchange_n(&p->lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	e = p->list;
	if (e) {
		p->list = e->next;
		p->nr--;
	}
	__atomic_store_n(&p->lock, 0, __ATOMIC_RELEASE);
	return e;
}

static void pool_put(struct free_pool *p, struct entry *e)
{
	while (__atomic_exchange_n(&p->lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	e->next = p->list;
	p->list = e;
	p->nr++;
	__atomic_store_n(&p->lock, 0, __ATOMIC_RELEASE);
}

enum rcode cache_lookup(struct cache *c, struct query *q)
{
	struct bucket *b = &c->buckets[q->hash & c->mask];
	struct entry *e, **pp, *used_up = NULL;
	u32 now = clk_now();
	enum rcode rc = RC_MISS;

	bit_lock(&b->lock);
	for (pp = &b->first; (e = *pp) != NULL; pp = &e->next)
		if (entry_matches(e, q))
			break;
	if (e && e->hits >= MAX_USES) {
		*pp = e->next;
		b->count--;
		used_up = e;
	} else if (e && (int)(e->expires - now) > 0) {
		q->addr = e->addr;
		__atomic_store_n(&e->hits, e->hits + 1, __ATOMIC_RELAXED);
		rc = RC_OK;
	}
	bit_unlock(&b->lock);
	if (used_up)
		pool_put(&c->pool, used_up);
	if (rc == RC_OK)
		__atomic_fetch_add(&c->st.hits, 1, __ATOMIC_RELAXED);
	return rc;
}

static void entry_fill(struct entry *e, const struct query *q, u32 ttl)
{
	e->hash = q->hash;
	e->addr = q->addr;
	e->len = q->len;
	e->hits = 0;
	e->expires = clk_now() + clk_ttl(ttl);
	memcpy(e->name, q->name, sizeof(e->name));
}

bool cache_insert(struct cache *c, const struct query *q, u32 ttl)
{
	struct bucket *b = &c->buckets[q->hash & c->mask];
	struct entry *e;

	bit_lock(&b->lock);
	for (e = b->first; e; e = e->next)
		if (entry_matches(e, q))
			break;
	if (e) {
		e->expires = clk_now() + clk_ttl(ttl);
		bit_unlock(&b->lock);
	} else {
		bit_unlock(&b->lock);
		e = pool_get(&c->pool);
		if (!e) {
			c->evict_failures++;
			return false;
		}
		entry_fill(e, q, ttl);
		bit_lock(&b->lock);
		e->next = b->first;
		b->first = e;
		b->count++;
		bit_unlock(&b->lock);
	}
	__atomic_fetch_add(&c->st.inserts, 1, __ATOMIC_RELAXED);
	return true;
}

static struct entry *bucket_cut(struct bucket *b, u32 now)
{
	struct entry **pp, *e;

	for (pp = &b->first; (e = *pp) != NULL; pp = &e->next)
		if ((int)(e->expires - now) <= 0) {
			*pp = e->next;
			b->count--;
			return e;
		}
	return NULL;
}

u32 cache_expire(struct cache *c, u32 budget)
{
	struct free_pool *p = &c->pool;
	u32 now = clk_now(), n = 0;

	while (budget--) {
		struct bucket *b = &c->buckets[p->hand & c->mask];
		struct entry *e;

		p->hand++;
		p->scanned++;
		if (!READ_ONCE(b->first))
			continue;
		bit_lock(&b->lock);
		e = bucket_cut(b, now);
		bit_unlock(&b->lock);
		if (e) {
			pool_put(p, e);
			c->st.expired++;
			n++;
		}
	}
	p->sweeps++;
	return n;
}

void cache_print(const struct cache *c)
{
	printf("cache: %s hits, %s inserts, %s expired, %llu failures\n",
	       c->st.hits ? "some" : "no", c->st.inserts ? "some" : "no",
	       c->st.expired ? "some" : "no",
	       (unsigned long long)c->evict_failures);
}
