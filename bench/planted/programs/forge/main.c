/* forge: builds a synthetic project again and again with several workers */
#include "cache.h"
#include "util.h"
#include "events.h"
#include "graph.h"
#include "log.h"
#include "options.h"
#include "sched.h"
#include "source.h"
#include "status.h"

static void summary(uint64_t us)
{
	unsigned long built = 0, reused = 0, failed = 0, waits = 0;

	for (int i = 0; i < opt.jobs; i++) {
		built += workers[i].built;
		reused += workers[i].reused;
		failed += workers[i].failed;
		waits += workers[i].waits;
	}
	printf("%lu built, %lu reused, %lu failed, %lu waits, %llu us\n", built, reused, failed,
	       waits, (unsigned long long)us);
}

int main(int argc, char **argv)
{
	uint64_t t0 = now_us();
	int bad = 0;

	options_parse(argc, argv);
	sources_init((unsigned)opt.targets / 2 + 8, opt.seed);
	graph_generate((unsigned)opt.targets, opt.seed);
	events_init(512);
	cache_init();
	sched_start(opt.jobs);
	status_start();
	for (int round = 0; round < opt.rounds; round++) {
		cache_set_epoch((uint32_t)round + 1);
		if (round) {
			sources_touch((unsigned)round);
			graph_reset_round();
		}
		if (!sched_build()) {
			log_line("round %d failed", round);
			bad++;
		}
		if (round > 8)
			cache_expire((uint32_t)round - 8);
	}
	status_stop();
	sched_stop();
	cache_report();
	printf("events: %u ends, %u log lines\n", events_export(NULL), log_lines());
	summary(now_us() - t0);
	cache_destroy();
	events_free();
	graph_free();
	sources_free();
	return bad ? 1 : 0;
}
