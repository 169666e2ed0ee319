#include "force.h"
#include "md.h"
#include "neighbor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tally *tallies;
static int n_tallies;
static unsigned species_pairs[MD_SPECIES][MD_SPECIES];
static float mix[MD_SPECIES][MD_SPECIES];
static double last_potential;

void force_init(void)
{
	n_tallies = params.threads;
	tallies = md_alloc((size_t)n_tallies, sizeof *tallies);
	for (int a = 0; a < MD_SPECIES; a++)
		for (int b = 0; b < MD_SPECIES; b++)
			mix[a][b] = 1.0f + 0.1f * (float)(a + b);
}

static inline void add_force(float *f, float v)
{
#pragma omp atomic
	*f += v;
}

static void pair(int i, int j, struct tally *t)
{
	float dx = md_wrap(sys.x[i] - sys.x[j], params.box);
	float dy = md_wrap(sys.y[i] - sys.y[j], params.box);
	float dz = md_wrap(sys.z[i] - sys.z[j], params.box);
	float r2 = dx * dx + dy * dy + dz * dz + 1e-4f;
	float s, s3, f;

	if (r2 > params.cutoff * params.cutoff)
		return;
	s = mix[sys.species[i]][sys.species[j]] / (r2 + 0.5f);
	s3 = s * s * s;
	f = s3 * (s3 - 0.5f);
	add_force(&sys.fx[i], f * dx);
	add_force(&sys.fy[i], f * dy);
	add_force(&sys.fz[i], f * dz);
	add_force(&sys.fx[j], -f * dx);
	add_force(&sys.fy[j], -f * dy);
	add_force(&sys.fz[j], -f * dz);
	t->potential += s3 * (s3 - 1.0f);
	t->virial += f * r2;
	t->pairs++;
	if (r2 < 0.3f)
		t->close++;
}

void force_compute(void)
{
	size_t bytes = (size_t)sys.n * sizeof(float);

	memset(sys.fx, 0, bytes);
	memset(sys.fy, 0, bytes);
	memset(sys.fz, 0, bytes);
#pragma omp parallel
	{
		struct tally *t = &tallies[omp_get_thread_num()];

#pragma omp for schedule(dynamic, 4)
		for (int i = 0; i < sys.n; i++) {
			const int *list = neighbors.list + (size_t)i * MAX_NEIGHBORS;

			for (int k = 0; k < neighbors.count[i]; k++)
				pair(i, list[k], t);
		}
	}
}

double force_potential(void)
{
	double sum = 0;

	for (int i = 0; i < n_tallies; i++) {
		sum += tallies[i].potential;
		tallies[i].potential = 0;
	}
	last_potential = sum;
	return sum;
}

void force_report(void)
{
	unsigned long pairs = 0, close = 0;

	for (int i = 0; i < n_tallies; i++) {
		pairs += tallies[i].pairs;
		close += tallies[i].close;
	}
	printf("forces: %lu pairs, %lu close, %u like pairs, last potential %.3f\n", pairs, close,
	       species_pairs[0][0], last_potential);
}

void force_free(void)
{
	free(tallies);
}
