#include "catchment.h"

static double *volume;		/* one per thread */
static uint32_t *depth_class;	/* CLASSES per thread */
static int volume_count;
static omp_lock_t basin_lock[BASINS];
static alignas(64) struct {
	alignas(64) double moved;
	long cells;
} basin_total[BASINS];
static long blocked;

static struct {
	alignas(64) long cells;
	long wet;
} thread_totals[MAX_THREADS];

void flow_init(int threads)
{
	volume_count = threads;
	volume = must_alloc((size_t)threads * sizeof *volume);
	depth_class = must_alloc((size_t)threads * CLASSES * sizeof *depth_class);
	for (int i = 0; i < BASINS; i++)
		omp_init_lock(&basin_lock[i]);
}

static int class_of(float depth)
{
	int c = (int)(depth * 12.0f);

	return c < 0 ? 0 : c >= CLASSES ? CLASSES - 1 : c;
}

/* Every wet cell sends a part of its water downhill. */
void flow_route(struct field *f, const struct params *p)
{
	long wet = 0;

#pragma omp parallel num_threads(p->threads) reduction(+ : wet)
	{
		int me = omp_get_thread_num();

#pragma omp for schedule(static, 1)
		for (int y = 0; y < f->height; y++)
			for (int x = 0; x < f->width; x++) {
				int c = y * f->width + x, to;
				float depth = f->water[c];

				depth_class[me * CLASSES + class_of(depth)]++;
				if (depth < 0.05f)
					continue;
				wet++;
				to = terrain_downhill(f, x, y);
				if (to == c)
					continue;
#pragma omp atomic
				f->inflow[to] += (int)(depth * 256.0f);
				volume[me] += depth;
			}
		thread_totals[me].cells += f->width;
	}
	thread_totals[0].wet += wet;
}

/* Takes over what has arrived; a basin counts under its lock. */
void flow_apply(struct field *f, const struct params *p)
{
	int cells = f->width * f->height;

#pragma omp parallel for schedule(static, 5) num_threads(p->threads)
	for (int c = 0; c < cells; c++) {
		float in = (float)f->inflow[c] / 256.0f;

		if (f->inflow[c]) {
			int b = f->basin[c];

			omp_set_lock(&basin_lock[b]);
			basin_total[b].moved += in;
			basin_total[b].cells++;
			omp_unset_lock(&basin_lock[b]);
			f->inflow[c] = 0;
		}
		f->water[c] = (f->water[c] * 0.75f + in * 0.25f) * (1.0f - p->infiltration);
	}
}

double flow_volume(void)
{
	double sum = 0;

	for (int i = 0; i < volume_count; i++)
		sum += volume[i];
	return sum;
}

void flow_report(FILE *out)
{
	double moved = 0;
	uint32_t deep = 0;

	for (int b = 0; b < BASINS; b++) {
		moved += basin_total[b].moved;
		omp_destroy_lock(&basin_lock[b]);
	}
	for (int i = 0; i < volume_count; i++)
		deep += depth_class[i * CLASSES + CLASSES - 1];
	fprintf(out, "flow: %.0f moved, %u deep cells, %ld wet, %ld blocked\n", moved, deep,
		thread_totals[0].wet, blocked);
}
