#include "hub.h"

#include <stdlib.h>
#include <string.h>
#include <threads.h>

static struct {
	mtx_t lock;
	struct frame *free;
	struct frame *all;
	unsigned n_free;
	unsigned low_water;
} pool;

void frames_init(void)
{
	if (mtx_init(&pool.lock, mtx_plain) != thrd_success)
		hub_fatal("mtx_init");
	pool.all = calloc(HUB_MAX_FRAMES, sizeof *pool.all);
	if (!pool.all)
		hub_fatal("no memory for frames");
	for (unsigned i = HUB_MAX_FRAMES; i-- > 0;) {
		pool.all[i].next = pool.free;
		pool.free = &pool.all[i];
	}
	pool.n_free = pool.low_water = HUB_MAX_FRAMES;
}

struct frame *frame_get(void)
{
	struct frame *f;

	mtx_lock(&pool.lock);
	f = pool.free;
	if (f) {
		pool.free = f->next;
		if (--pool.n_free < pool.low_water)
			pool.low_water = pool.n_free;
	}
	mtx_unlock(&pool.lock);
	if (f)
		atomic_store_explicit(&f->refs, 1, memory_order_relaxed);
	return f;
}

void frame_put(struct frame *f)
{
	if (atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) != 1)
		return;
	mtx_lock(&pool.lock);
	f->next = pool.free;
	pool.free = f;
	pool.n_free++;
	mtx_unlock(&pool.lock);
}

unsigned frames_free_count(void)
{
	return pool.n_free;
}

void frames_destroy(void)
{
	free(pool.all);
	mtx_destroy(&pool.lock);
}
