/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Route lookup with a small flow cache per lcore in front, and the
 * neighbour table.
 */
#include <stdlib.h>
#include <string.h>

#include "fwdd.h"

#define FLOW_SLOTS	16

struct flow_cache {
	const struct route *last;
	uint32_t	    last_dst;
	uint32_t	    hits;
	uint64_t	    misses;
};

static struct fib *fib;
static struct neigh neigh_tbl[FWDD_NEIGH];
static struct flow_cache *flow_caches;
static int flow_ncaches;
static __thread struct flow_cache *my_flows;
static __thread struct {
	uint32_t dst[FLOW_SLOTS];
	const struct route *rt[FLOW_SLOTS];
} flow_tbl;

int
fib_init(uint32_t nports)
{
	struct route *rt;
	uint32_t i;

	fib = aligned_alloc(CACHE_LINE, CACHE_LINE);
	if (fib == NULL)
		return -1;
	rt = calloc(8, sizeof(*rt));
	if (rt == NULL) {
		free(fib);
		fib = NULL;
		return -1;
	}
	for (i = 0; i < 8; i++) {
		rt[i].prefix = 0x0a000000u | i << 14;
		rt[i].mask = 0xffffc000u;
		rt[i].port = i % nports;
		rt[i].neigh = i % FWDD_NEIGH;
	}
	fib->routes = rt;
	fib->nroutes = 8;
	fib->def_port = 0;
	atomic_init(&fib->lookups, 0);
	for (i = 0; i < FWDD_NEIGH; i++) {
		neigh_tbl[i].addr = 0x0a000001u + i;
		neigh_tbl[i].mac[0] = 2;
		neigh_tbl[i].mac[5] = i;
		neigh_tbl[i].state = 1;
	}
	return 0;
}

void
fib_fini(void)
{
	if (fib == NULL)
		return;
	free((void *)fib->routes);
	free(fib);
	fib = NULL;
}

const struct route *
fib_lookup(uint32_t dst)
{
	uint32_t i;

	atomic_fetch_add_explicit(&fib->lookups, 1, memory_order_relaxed);
	for (i = 0; i < fib->nroutes; i++) {
		const struct route *rt = &fib->routes[i];

		if ((dst & rt->mask) == rt->prefix)
			return rt;
	}
	return NULL;
}

int
flow_cache_init(int n)
{
	flow_caches = calloc(n, sizeof(*flow_caches));
	flow_ncaches = n;
	return flow_caches == NULL ? -1 : 0;
}

void
flow_cache_fini(void)
{
	free(flow_caches);
	flow_caches = NULL;
}

void
flow_cache_attach(const struct lcore *lc)
{
	my_flows = &flow_caches[lc->id];
}

const struct route *
flow_lookup(uint32_t dst)
{
	struct flow_cache *fc = my_flows;
	unsigned h = (dst ^ dst >> 9) % FLOW_SLOTS;

	if (fc->last != NULL && fc->last_dst == dst) {
		fc->hits++;
		return fc->last;
	}
	if (flow_tbl.rt[h] != NULL && flow_tbl.dst[h] == dst) {
		fc->hits++;
	} else {
		fc->misses++;
		flow_tbl.rt[h] = fib_lookup(dst);
		flow_tbl.dst[h] = dst;
	}
	fc->last = flow_tbl.rt[h];
	fc->last_dst = dst;
	return fc->last;
}

/* Reader side of the neighbour seqlock; leaves a use mark. */
bool
neigh_resolve(unsigned idx, uint8_t mac[6], uint64_t now)
{
	struct neigh *n = &neigh_tbl[idx % FWDD_NEIGH];
	uint32_t s;

	do {
		s = atomic_load_explicit(&n->seq, memory_order_acquire);
		memcpy(mac, n->mac, 6);
	} while ((s & 1) != 0 ||
	    atomic_load_explicit(&n->seq, memory_order_acquire) != s);
	atomic_store_explicit(&n->used, now, memory_order_relaxed);
	return n->state != 0;
}

/* Writer side, control lcore only. */
void
neigh_age(uint64_t now)
{
	unsigned i;

	for (i = 0; i < FWDD_NEIGH; i++) {
		struct neigh *n = &neigh_tbl[i];

		if (now - n->confirmed < 100000)
			continue;
		atomic_fetch_add(&n->seq, 1);
		n->confirmed = now;
		n->mac[4]++;
		atomic_fetch_add(&n->seq, 1);
	}
}
