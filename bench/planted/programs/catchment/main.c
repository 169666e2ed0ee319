#include "catchment.h"
#include <unistd.h>

static void usage(const char *self)
{
	fprintf(stderr, "usage: %s [-s steps] [-t threads] [-r rain]\n", self);
	exit(2);
}

int main(int argc, char **argv)
{
	struct params p = {
		.threads = 3, .steps = 60, .rain = 0.4f, .infiltration = 0.03f,
		.capacity = 0.1f, .seed = 2024,
	};
	struct weather *w;
	struct field *f;
	int opt;

	while ((opt = getopt(argc, argv, "s:t:r:")) != -1)
		switch (opt) {
		case 's': p.steps = atoi(optarg); break;
		case 't': p.threads = atoi(optarg); break;
		case 'r': p.rain = (float)atof(optarg); break;
		default: usage(argv[0]);
		}
	if (p.threads < 1 || p.threads > MAX_THREADS || p.steps < 1)
		usage(argv[0]);

	f = terrain_create(50, 36, p.seed);
	w = weather_create(p.threads, p.seed);
	flow_init(p.threads);
	erosion_init();
	gauges_init(f);
	droplets_init(f, p.seed);
	for (int s = 0; s < p.steps; s++) {
		rain_step(f, w, &p);
		flow_route(f, &p);
		flow_apply(f, &p);
		erosion_step(f, &p);
		gauges_step(f, &p);
		droplets_step(f, &p);
		balance_step(f, &p);
	}
	printf("rain: %.0f, volume %.0f, lifted %s\n", weather_total(w), flow_volume(),
	       erosion_lifted() > 0 ? "some" : "none");
	flow_report(stdout);
	gauges_report(stdout);
	droplets_report(stdout);
	balance_report(stdout);
	free(w->station);
	free(w);
	terrain_free(f);
	return 0;
}
