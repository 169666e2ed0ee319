#include "catchment.h"

void *must_alloc(size_t n)
{
	void *p = calloc(1, n);

	if (!p) {
		perror("catchment");
		exit(1);
	}
	return p;
}

void *must_alloc_lines(size_t n)
{
	void *p = aligned_alloc(64, (n + 63) & ~(size_t)63);

	if (!p) {
		perror("catchment");
		exit(1);
	}
	memset(p, 0, n);
	return p;
}

uint32_t rand_next(uint32_t *s)
{
	uint32_t x = *s;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return *s = x;
}
