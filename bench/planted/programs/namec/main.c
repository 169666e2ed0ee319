#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include "namec.h"

static struct options {
	u32	queries;
	u32	names;
	u32	clients;
	u32	level;
	bool	trace;
} opt __aligned_line = {
	.queries = 100000,
	.names   = 16,
	.clients = 3,
};

static struct {
	struct cache		*cache;
	struct zone_set		*zones;
	struct upstream_pool	*ups;
} sys __aligned_line;

static u32 shutting_down __aligned_line;

static void *expirer_thread(void *arg)
{
	pthread_barrier_t *gate = arg;
	u64 rounds = 0, freed = 0;

	pthread_barrier_wait(gate);
	while (!READ_ONCE(shutting_down)) {
		clk_advance(1);
		freed += cache_expire(sys.cache, 8);
		if ((++rounds & 0xffff) == 0)
			zones_reload(sys.zones);
		sched_yield();
	}
	printf("expirer: %s\n", freed ? "freed" : "idle");
	return NULL;
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "q:n:c:tv")) != -1) {
		if (c == '?')
			opt.queries = 0;
		else if (c == 't')
			opt.trace = true;
		else if (c == 'v')
			opt.level++;
		else
			*(c == 'q' ? &opt.queries : c == 'n' ? &opt.names : &opt.clients) =
				strtoul(optarg, NULL, 0);
	}
	if (!opt.queries || !opt.names || opt.names > 128 ||
	    !opt.clients || opt.clients > NR_CLIENTS_MAX) {
		fputs("usage: namec [-tv] [-q queries] [-n names] [-c clients]\n", stderr);
		exit(2);
	}
}

static int setup(void)
{
	clk_setup(2, 5, opt.trace);
	journal_setup(opt.level);
	sys.cache = cache_create(256, 16);
	sys.zones = zones_load(6);
	if (!sys.cache || !sys.zones)
		return -1;
	sys.ups = upstream_start(sys.cache);
	return sys.ups ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct client_args args[NR_CLIENTS_MAX];
	pthread_t clients[NR_CLIENTS_MAX], expirer;
	pthread_barrier_t gate;
	u32 i;

	parse(argc, argv);
	if (setup()) {
		fputs("namec: setup failed\n", stderr);
		return 1;
	}
	pthread_barrier_init(&gate, NULL, opt.clients + 1);
	if (pthread_create(&expirer, NULL, expirer_thread, &gate))
		return 1;
	for (i = 0; i < opt.clients; i++) {
		args[i] = (struct client_args) {
			.id = i, .nr_queries = opt.queries, .nr_names = opt.names,
			.cache = sys.cache, .zones = sys.zones, .ups = sys.ups,
			.gate = &gate,
		};
		if (pthread_create(&clients[i], NULL, client_thread, &args[i]))
			return 1;
	}
	for (i = 0; i < opt.clients; i++)
		pthread_join(clients[i], NULL);
	upstream_stop(sys.ups);
	WRITE_ONCE(shutting_down, 1);
	pthread_join(expirer, NULL);

	clients_print(opt.clients);
	upstream_print(sys.ups);
	cache_print(sys.cache);
	printf("journal: %s\n", journal_digest() ? "kept" : "empty");
	pthread_barrier_destroy(&gate);
	zones_free(sys.zones);
	cache_destroy(sys.cache);
	return 0;
}
