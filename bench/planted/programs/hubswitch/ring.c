#include "hub.h"

#include <stdlib.h>

struct ring *ring_new(uint32_t size)
{
	struct ring *r = calloc(1, sizeof *r);

	if (!r || !(r->slots = calloc(size, sizeof *r->slots)))
		hub_fatal("no memory for a ring");
	r->mask = size - 1;
	return r;
}

bool ring_push(struct ring *r, struct frame *f)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	uint32_t head = atomic_load_explicit(&r->head, memory_order_acquire);

	if (tail - head > r->mask) {
		r->full++;
		return false;
	}
	r->slots[tail & r->mask] = f;
	atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
	return true;
}

struct frame *ring_pop(struct ring *r)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	struct frame *f;

	if (head == atomic_load_explicit(&r->tail, memory_order_acquire))
		return NULL;
	f = r->slots[head & r->mask];
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	return f;
}

void ring_free(struct ring *r)
{
	free(r->slots);
	free(r);
}
