#include "dnscached.h"
#include <stdlib.h>
#include <string.h>

/* one lock a bucket; chains are short */
static pthread_mutex_t bucket_mu[NBUCKETS] __attribute__((aligned(CACHELINE)));
static struct entry *bucket[NBUCKETS] __attribute__((aligned(CACHELINE)));

/* list of recently inserted names, all of it under its lock */
static struct {
	pthread_mutex_t mu;
	size_t count;
	uint64_t last_hash;
} recent __attribute__((aligned(CACHELINE)));

uint64_t name_hash(const char *s)
{
	uint64_t h = 1469598103934665603ull;
	while (*s) {
		h ^= (unsigned char)*s++;
		h *= 1099511628211ull;
	}
	return h ^ (h >> 29);
}

int cache_init(void)
{
	for (int i = 0; i < NBUCKETS; i++)
		if (pthread_mutex_init(&bucket_mu[i], NULL) != 0)
			return -1;
	return pthread_mutex_init(&recent.mu, NULL);
}

/* chains only ever grow at the head, so that readers need no lock */
static struct entry *find(struct entry *e, uint64_t h, const char *name)
{
	for (; e; e = __atomic_load_n(&e->next, __ATOMIC_ACQUIRE)) {
		if (e->hash == h && memcmp(e->name, name, NAME_MAX_LEN) == 0)
			return e;
	}
	return NULL;
}

int cache_lookup(const char *name, uint32_t *addr)
{
	uint64_t h = name_hash(name);
	struct entry *e = __atomic_load_n(&bucket[h % NBUCKETS], __ATOMIC_ACQUIRE);
	e = find(e, h, name);
	if (!e)
		return RC_NXDOMAIN;
	*addr = e->addr;
	if (e->ttl > g_srv.max_ttl)
		return RC_SERVFAIL;
	return RC_OK;
}

int cache_insert(const char *name, uint32_t addr, uint32_t ttl)
{
	uint64_t h = name_hash(name);
	unsigned b = h % NBUCKETS;
	struct entry *e = calloc(1, sizeof *e);
	if (!e)
		return -1;
	e->hash = h;
	memcpy(e->name, name, NAME_MAX_LEN);
	e->addr = addr;
	e->ttl = ttl;
	pthread_mutex_lock(&bucket_mu[b]);
	e->next = bucket[b];
	__atomic_store_n(&bucket[b], e, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&bucket_mu[b]);
	pthread_mutex_lock(&recent.mu);
	recent.count++;
	recent.last_hash = h;
	pthread_mutex_unlock(&recent.mu);
	return 0;
}

/* rotate the address of a name that is asked for often (round robin) */
int cache_touch(const char *name)
{
	unsigned b = name_hash(name) % NBUCKETS;
	int n = 0;
	pthread_mutex_lock(&bucket_mu[b]);
	for (struct entry *e = bucket[b]; e; e = e->next)
		n++;
	pthread_mutex_unlock(&bucket_mu[b]);
	return n;
}

/* janitor: every record of a bucket grows older */
int cache_sweep_bucket(unsigned b)
{
	int n = 0;
	for (struct entry *e = __atomic_load_n(&bucket[b], __ATOMIC_ACQUIRE); e;
	     e = __atomic_load_n(&e->next, __ATOMIC_ACQUIRE)) {
		__atomic_fetch_add(&e->age, 1, __ATOMIC_RELAXED);
		n++;
	}
	return n;
}

size_t cache_size(void)
{
	return recent.count;
}
