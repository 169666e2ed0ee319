#include "catchment.h"
#include <sched.h>

static struct sweep *sweep;
static alignas(64) long total_lifted;

void erosion_init(void)
{
	sweep = must_alloc_lines(sizeof *sweep);
	sweep->rate = 0.02f;
	sweep->limit = 0.5f;
}

#define STRIP 6

static float erode_strip(struct field *f, int strip)
{
	float lifted = 0.0f;

	for (int c = strip * STRIP; c < (strip + 1) * STRIP; c++) {
		float take = f->water[c] * sweep->rate;

		if (take > sweep->limit)
			take = sweep->limit;
		f->sediment[c] -= take * f->sediment[c];
		lifted += take;
	}
	return lifted;
}

/* Strips are handed out one by one, as the work per strip differs. */
void erosion_step(struct field *f, const struct params *p)
{
	sweep->next = 0;
	sweep->strips = f->width * f->height / STRIP;
#pragma omp parallel num_threads(p->threads)
	{
		float mine = 0.0f;
		int n;

		for (;;) {
#pragma omp atomic capture
			n = sweep->next++;
			if (n >= sweep->strips)
				break;
			mine += erode_strip(f, n);
			if ((n & 3) == 0)
				sched_yield();
		}
#pragma omp critical
		total_lifted += (long)(mine * 16.0f);
	}
	sweep->lifted = total_lifted;
}

long erosion_lifted(void)
{
	return sweep->lifted;
}
