#include "measure.h"
#include "md.h"
#include "neighbor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* radial distribution: histograms of each thread, added up at the end */
static unsigned *histogram[MD_MAX_THREADS];
static unsigned density[MD_BINS];
static struct {
	double mean_v;
	long v_samples;
	double mean_r;
	long r_samples;
	int bad;
} moments;
static int samples;

void measure_init(void)
{
	for (int i = 0; i < params.threads; i++)
		histogram[i] = md_alloc(MD_BINS - 6, sizeof **histogram);
}

static void sample_distances(void)
{
#pragma omp parallel
	{
		unsigned *h = histogram[omp_get_thread_num()];

#pragma omp for schedule(dynamic, 8)
		for (int i = 0; i < sys.n; i++) {
			const int *list = neighbors.list + (size_t)i * MAX_NEIGHBORS;

			for (int k = 0; k < neighbors.count[i]; k++) {
				float dx = md_wrap(sys.x[i] - sys.x[list[k]], params.box);
				float dy = md_wrap(sys.y[i] - sys.y[list[k]], params.box);
				int b = (int)((dx * dx + dy * dy) * 3.0f);

				h[b < MD_BINS - 6 ? b : MD_BINS - 7]++;
			}
		}
	}
}

static void sample_density(void)
{
	float k = (float)MD_BINS / params.box;

#pragma omp parallel for schedule(static, 7)
	for (int i = 0; i < sys.n; i++) {
		int b = (int)(sys.z[i] * k);

		if (b < 0 || b >= MD_BINS)
			b = 0;
#pragma omp atomic
		density[b]++;
	}
}

/* two averages by two threads at the same time */
static void sample_moments(void)
{
#pragma omp parallel sections
	{
#pragma omp section
		for (int i = 0; i < sys.n; i += 2) {
			moments.mean_v += (double)fabsf(sys.vx[i]);
			moments.v_samples++;
		}
#pragma omp section
		for (int i = 0; i < sys.n; i += 2) {
			moments.mean_r += (double)(sys.x[i] * sys.x[i]);
			moments.r_samples++;
		}
	}
}

void measure_sample(void)
{
	sample_distances();
	sample_density();
	sample_moments();
	samples++;
}

void measure_report(void)
{
	unsigned long all = 0, dense = 0;

	for (int t = 0; t < params.threads; t++)
		for (int b = 0; b < MD_BINS - 6; b++)
			all += histogram[t][b];
	for (int b = 0; b < MD_BINS; b++)
		dense += density[b];
	printf("measure: %d samples, %lu distances, %lu positions, <|v|> %.4f, <r2> %.3f\n", samples,
	       all, dense, moments.mean_v / (double)(moments.v_samples + 1),
	       moments.mean_r / (double)(moments.r_samples + 1));
}

void measure_free(void)
{
	for (int i = 0; i < params.threads; i++)
		free(histogram[i]);
}
