#include "md.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct system sys;

void md_fatal(const char *what)
{
	fprintf(stderr, "argonmd: %s\n", what);
	exit(2);
}

void *md_alloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		md_fatal("out of memory");
	return p;
}

/* atoms on a lattice, with random velocities */
void system_create(void)
{
	uint32_t rng = params.seed * 2654435761u | 1u;
	int side = 1, n = params.atoms;

	while (side * side * side < n)
		side++;
	sys.n = n;
	sys.x = md_alloc((size_t)n, sizeof(float));
	sys.y = md_alloc((size_t)n, sizeof(float));
	sys.z = md_alloc((size_t)n, sizeof(float));
	sys.vx = md_alloc((size_t)n, sizeof(float));
	sys.vy = md_alloc((size_t)n, sizeof(float));
	sys.vz = md_alloc((size_t)n, sizeof(float));
	sys.fx = md_alloc((size_t)n, sizeof(float));
	sys.fy = md_alloc((size_t)n, sizeof(float));
	sys.fz = md_alloc((size_t)n, sizeof(float));
	sys.species = md_alloc((size_t)n, 1);
	sys.moved = md_alloc((size_t)n, 1);
	for (int i = 0; i < n; i++) {
		float a = params.box / (float)side;

		sys.x[i] = ((float)(i % side) + 0.5f) * a;
		sys.y[i] = ((float)(i / side % side) + 0.5f) * a;
		sys.z[i] = ((float)(i / side / side) + 0.5f) * a;
		sys.vx[i] = md_uniform(&rng) - 0.5f;
		sys.vy[i] = md_uniform(&rng) - 0.5f;
		sys.vz[i] = md_uniform(&rng) - 0.5f;
		sys.species[i] = (uint8_t)(md_rand(&rng) % MD_SPECIES);
	}
}

void system_free(void)
{
	free(sys.x);
	free(sys.y);
	free(sys.z);
	free(sys.vx);
	free(sys.vy);
	free(sys.vz);
	free(sys.fx);
	free(sys.fy);
	free(sys.fz);
	free(sys.species);
	free(sys.moved);
}
