/* Items of one size, kept on a list under a lock. */
#include "common.h"

#include <stdlib.h>

int pool_init(struct pool *p, size_t item_size, size_t limit)
{
	if (item_size < sizeof(struct pool_item))
		item_size = sizeof(struct pool_item);
	p->item_size = item_size;
	p->limit = limit;
	p->free = NULL;
	p->out = p->made = 0;
	return pthread_mutex_init(&p->lock, NULL) ? -1 : 0;
}

void *pool_get(struct pool *p)
{
	struct pool_item *item = NULL;

	pthread_mutex_lock(&p->lock);
	if (p->free) {
		item = p->free;
		p->free = item->next;
		p->out++;
	} else if (p->made < p->limit) {
		p->made++;
		p->out++;
		item = malloc(p->item_size);
	}
	pthread_mutex_unlock(&p->lock);
	if (!item)
		LOG(LOG_DEBUG, "pool of %zu is empty", p->item_size);
	return item;
}

void pool_put(struct pool *p, void *ptr)
{
	struct pool_item *item = ptr;

	pthread_mutex_lock(&p->lock);
	item->next = p->free;
	p->free = item;
	p->out--;
	pthread_mutex_unlock(&p->lock);
}

/* Asked before an item is filled; needs no lock, the size never changes. */
bool pool_fits(const struct pool *p, size_t n)
{
	return n <= p->item_size && p->limit > 0;
}

void pool_destroy(struct pool *p)
{
	while (p->free) {
		struct pool_item *item = p->free;
		p->free = item->next;
		free(item);
	}
	if (p->out)
		LOG(LOG_WARN, "pool: %zu items of %zu still out", p->out, p->made);
	pthread_mutex_destroy(&p->lock);
}

/* One reader puts, one ingester takes. */

int ring_init(struct ring *r, uint32_t size)
{
	if (size & (size - 1))
		return -1;
	r->slots = calloc(size, sizeof *r->slots);
	if (!r->slots)
		return -1;
	r->mask = size - 1;
	atomic_init(&r->head, 0);
	atomic_init(&r->tail, 0);
	return 0;
}

bool ring_put(struct ring *r, struct line *l)
{
	uint32_t t = atomic_load_explicit(&r->tail, memory_order_relaxed);
	uint32_t h = atomic_load_explicit(&r->head, memory_order_acquire);

	if (t - h > r->mask)
		return false;
	r->slots[t & r->mask] = l;
	atomic_store_explicit(&r->tail, t + 1, memory_order_release);
	return true;
}

struct line *ring_take(struct ring *r)
{
	uint32_t h = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (h == atomic_load_explicit(&r->tail, memory_order_acquire))
		return NULL;
	struct line *l = r->slots[h & r->mask];
	atomic_store_explicit(&r->head, h + 1, memory_order_release);
	return l;
}

void ring_destroy(struct ring *r)
{
	free(r->slots);
	r->slots = NULL;
}
