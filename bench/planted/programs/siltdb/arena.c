#include "silt.h"

#define ARENA_BLOCK 2048

void *arena_alloc(struct arena *a, size_t n)
{
	void *p;

	n = (n + 15) & ~(size_t)15;
	if ((size_t)(a->end - a->cur) < n) {
		a->cur = aligned_alloc(64, ARENA_BLOCK);
		if (!a->cur)
			abort();
		a->end = a->cur + ARENA_BLOCK;
		a->blocks++;
	}
	p = a->cur;
	a->cur += n;
	a->bytes += (uint32_t)n;
	return p;
}
