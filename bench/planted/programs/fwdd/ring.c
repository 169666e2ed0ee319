/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "fwdd.h"

struct ring *
ring_create(uint32_t size)
{
	struct ring *r;

	if (size == 0 || (size & (size - 1)) != 0)
		return NULL;
	if (posix_memalign((void **)&r, CACHE_LINE, sizeof(*r)) != 0)
		return NULL;
	r->slot = calloc(size, sizeof(r->slot[0]));
	if (r->slot == NULL) {
		free(r);
		return NULL;
	}
	r->size = size;
	r->mask = size - 1;
	r->full = 0;
	atomic_init(&r->prod, 0);
	atomic_init(&r->cons, 0);
	return r;
}

void
ring_destroy(struct ring *r)
{
	if (r == NULL)
		return;
	free(r->slot);
	free(r);
}

bool
ring_put(struct ring *r, struct pkt *p)
{
	uint32_t prod = atomic_load_explicit(&r->prod, memory_order_relaxed);
	uint32_t cons = atomic_load_explicit(&r->cons, memory_order_acquire);

	if (prod - cons >= r->size) {
		r->full++;
		return false;
	}
	r->slot[prod & r->mask] = p;
	atomic_store_explicit(&r->prod, prod + 1, memory_order_release);
	return true;
}

struct pkt *
ring_get(struct ring *r)
{
	uint32_t cons = atomic_load_explicit(&r->cons, memory_order_relaxed);
	uint32_t prod = atomic_load_explicit(&r->prod, memory_order_acquire);
	struct pkt *p;

	if (cons == prod)
		return NULL;
	p = r->slot[cons & r->mask];
	atomic_store_explicit(&r->cons, cons + 1, memory_order_release);
	return p;
}
