#include "catchment.h"

static int dry_steps;

struct weather *weather_create(int threads, uint32_t seed)
{
	struct weather *w = must_alloc(sizeof *w);

	w->count = threads;
	w->station = must_alloc((size_t)threads * sizeof *w->station);
	for (int i = 0; i < threads; i++)
		w->station[i].state = seed + 7919u * (uint32_t)i;
	return w;
}

void rain_step(struct field *f, struct weather *w, const struct params *p)
{
	if (p->rain <= 0.0f) {
		dry_steps++;
		return;
	}
#pragma omp parallel num_threads(p->threads)
	{
		struct station *s = &w->station[omp_get_thread_num()];

#pragma omp for schedule(static)
		for (int y = 0; y < f->height; y++)
			for (int x = 0; x < f->width; x += 2) {
				float drop = p->rain * (float)(rand_next(&s->state) & 255) / 256.0f;

				s->draws++;
				s->fallen += drop;
				f->water[y * f->width + x] += drop;
			}
	}
}

double weather_total(const struct weather *w)
{
	double sum = 0;

	for (int i = 0; i < w->count; i++)
		sum += w->station[i].fallen;
	return sum;
}
