#include "silt.h"

struct run *run_create(uint32_t count)
{
	size_t bytes = ((size_t)count * sizeof(uint32_t) + 63) & ~(size_t)63;
	struct run *r = aligned_alloc(64, (sizeof *r + 63) & ~(size_t)63);

	if (!r)
		abort();
	memset(r, 0, sizeof *r);
	atomic_init(&r->refs, 1);
	r->count = count;
	r->keys = aligned_alloc(64, bytes ? bytes : 64);
	r->vals = aligned_alloc(64, bytes ? bytes : 64);
	return r;
}

void run_seal(struct run *r)
{
	r->min = r->count ? r->keys[0] : 1;
	r->max = r->count ? r->keys[r->count - 1] : 0;
}

void run_put(struct run *r)
{
	if (atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) == 1) {
		free(r->keys);
		free(r->vals);
		free(r);
	}
}

int run_find(const struct run *r, uint32_t key, unsigned *steps)
{
	uint32_t lo = 0, hi = r->count;

	if (key < r->min || key > r->max)
		return -1;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		++*steps;
		if (r->keys[mid] == key)
			return (int)mid;
		if (r->keys[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return -1;
}
