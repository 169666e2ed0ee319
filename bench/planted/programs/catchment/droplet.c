#include "catchment.h"

/* Droplets wander over the terrain and carry a load. */
static struct droplet *droplets[DROPLETS];
static int droplet_steps;
#pragma omp threadprivate(droplet_steps)

void droplets_init(const struct field *f, uint32_t seed)
{
	for (int i = 0; i < DROPLETS; i++) {
		struct droplet *d = malloc(sizeof *d);

		if (!d)
			exit(1);
		memset(d, 0, sizeof *d);
		d->state = seed + 101u * (uint32_t)i;
		d->x = (float)((i * 17) % f->width);
		d->y = (float)((i * 29) % f->height);
		droplets[i] = d;
	}
}

static void droplet_move(struct droplet *d, const struct field *f)
{
	uint32_t r = rand_next(&d->state);
	int to = terrain_downhill(f, (int)d->x, (int)d->y);

	d->x = (float)(to % f->width);
	d->y = (float)(to / f->width);
	d->load = d->load * 0.75f + (float)(r & 15);
	d->moves++;
	if ((r & 255) == 0) {
		d->x = (float)(r % (uint32_t)f->width);
		d->y = (float)((r >> 9) % (uint32_t)f->height);
		d->lost++;
	}
	droplet_steps++;
}

void droplets_step(const struct field *f, const struct params *p)
{
#pragma omp parallel for schedule(static, 1) num_threads(p->threads)
	for (int i = 0; i < DROPLETS; i++)
		for (int k = 0; k < 12; k++)
			droplet_move(droplets[i], f);
}

void droplets_report(FILE *out)
{
	uint32_t n = 0;

	for (int i = 0; i < DROPLETS; i++) {
		n += droplets[i]->moves;
		free(droplets[i]);
	}
	fprintf(out, "droplets: %u moves\n", n);
}
