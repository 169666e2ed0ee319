/* Particles, cells, bodies. */
#include "phys.h"

#include <stdlib.h>

/* Which cells were visited in this step; a byte each, set by whoever did it. */
_Alignas(LINE) uint8_t cell_active[CELLS];
unsigned long nan_count, escape_count;

uint32_t rng_next(struct rng *r)
{
	r->state = r->state * 747796405u + 2891336453u;
	r->drawn++;
	uint32_t w = ((r->state >> ((r->state >> 28) + 4u)) ^ r->state) * 277803737u;
	return (w >> 22) ^ w;
}

int grid_init(struct grid *g)
{
	uint32_t x = 99;

	for (int i = 0; i < WORKERS; i++) {
		g->rngs[i] = calloc(1, sizeof *g->rngs[i]);
		if (!g->rngs[i])
			return -1;
		g->rngs[i]->state = 1000u + (uint32_t)i;
	}
	for (int i = 0; i < BODIES; i++) {
		g->bodies[i] = calloc(1, sizeof *g->bodies[i]);
		if (!g->bodies[i])
			return -1;
		atomic_init(&g->bodies[i]->refs, 1);
		g->bodies[i]->x = 2.0f * (float)i;
		g->bodies[i]->y = 1.0f + (float)i;
		g->bodies[i]->radius = 25.0f;
	}
	for (int i = 0; i < PARTICLES; i++) {
		struct particle *p = calloc(1, sizeof *p);
		if (!p)
			return -1;
		x = x * 1664525u + 1013904223u;
		p->x = (float)(x >> 20) / 400.0f;
		p->y = (float)((x >> 8) & 4095) / 400.0f;
		p->number = (uint16_t)i;
		g->particles[i] = p;
	}
	g->cells = aligned_alloc(LINE, CELLS * sizeof *g->cells);
	if (!g->cells)
		return -1;
	for (int i = 0; i < CELLS; i++)
		g->cells[i] = (struct cell){ .density = 1.0f };
	return 0;
}

void grid_destroy(struct grid *g)
{
	for (int i = 0; i < PARTICLES; i++)
		free(g->particles[i]);
	for (int i = 0; i < BODIES; i++)
		free(g->bodies[i]);
	for (int i = 0; i < WORKERS; i++)
		free(g->rngs[i]);
	free(g->cells);
}

double grid_checksum(const struct grid *g)
{
	double sum = 0;

	for (int i = 0; i < PARTICLES; i++)
		sum += g->particles[i]->x * 3.0 + g->particles[i]->y;
	for (int i = 0; i < CELLS; i++)
		sum += g->cells[i].visits;
	return sum;
}
