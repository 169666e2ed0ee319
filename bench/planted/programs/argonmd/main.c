/* argonmd: molecular dynamics of a few hundred atoms, with OpenMP */
#include "bonds.h"
#include "force.h"
#include "integrate.h"
#include "md.h"
#include "measure.h"
#include "neighbor.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct params params = {
	.atoms = 1200,
	.steps = 400,
	.threads = 3,
	.seed = 11,
	.box = 12.0f,
	.cutoff = 1.9f,
	.dt = 0.01f,
	.target_temp = 0.4f,
	.rebuild_every = 10,
};

static void usage(void)
{
	fprintf(stderr, "usage: argonmd [-n atoms] [-s steps] [-t threads] [-x seed] [-r rebuild] [-v]\n");
	exit(2);
}

static int number(const char *s, int lo, int hi)
{
	char *end;
	long v = strtol(s, &end, 10);

	if (end == s || *end || v < lo || v > hi)
		usage();
	return (int)v;
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:s:t:x:r:v")) != -1) {
		switch (c) {
		case 'n': params.atoms = number(optarg, 27, 100000); break;
		case 's': params.steps = number(optarg, 1, 1000000); break;
		case 't': params.threads = number(optarg, 1, MD_MAX_THREADS); break;
		case 'x': params.seed = (unsigned)number(optarg, 1, 1 << 30); break;
		case 'r': params.rebuild_every = number(optarg, 1, 10000); break;
		case 'v': params.verbose = 1; break;
		default: usage();
		}
	}
}

int main(int argc, char **argv)
{
	double energy = 0;

	parse(argc, argv);
	omp_set_num_threads(params.threads);
	system_create();
	neighbors_create();
	force_init();
	integrate_init();
	measure_init();
	bonds_create();
	neighbors_rebuild();
	for (int step = 0; step < params.steps; step++) {
		if ((step && step % params.rebuild_every == 0) || (step % 3 == 0 && neighbors_stale()))
			neighbors_rebuild();
		force_compute();
		bonds_apply();
		integrate_step();
		thermostat();
		energy = force_potential();
		if (step % 2 == 0)
			measure_sample();
		if (params.verbose)
			fprintf(stderr, "%d: E %.3f T %.3f\n", step, energy, (double)integrate_temperature());
	}
	printf("neighbors: %ld in %d rebuilds, %d overflows\n", neighbors.total, neighbors.rebuilds,
	       neighbors.overflow);
	force_report();
	integrate_report();
	measure_report();
	bonds_report();
	bonds_free();
	measure_free();
	force_free();
	neighbors_free();
	system_free();
	return 0;
}
