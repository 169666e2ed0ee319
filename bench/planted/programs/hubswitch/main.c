/* hubswitch: a learning Ethernet switch in user space with stations to load it */
#include "fdb.h"
#include "forward.h"
#include "host.h"
#include "hub.h"
#include "port.h"
#include "storm.h"
#include "vlan.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct config config = {
	.frames = 400000,
	.seed = 77,
	.mac_age = 40,
	.tick_us = 200,
	.storm_burst = 24,
};

_Atomic uint32_t hub_ticks = 1;
static _Atomic bool quit;

static struct {
	uint32_t polls;
	uint32_t peak_rx;
	uint32_t last_rx;
	uint32_t last_tx;
	uint32_t idle;
} monitor;

void hub_fatal(const char *what)
{
	fprintf(stderr, "hubswitch: %s\n", what);
	exit(2);
}

static void nap(unsigned us)
{
	struct timespec ts = { 0, (long)us * 1000 };

	thrd_sleep(&ts, NULL);
}

static int timer_main(void *arg)
{
	(void)arg;
	while (!quit) {
		nap(config.tick_us);
		uint32_t now = ++hub_ticks;

		storm_refill();
		if (now % 8 == 0)
			fdb_expire(now);
	}
	return 0;
}

static int monitor_main(void *arg)
{
	(void)arg;
	while (!quit) {
		uint32_t rx = 0, tx = 0;

		nap(config.tick_us * 2);
		for (unsigned i = 0; i < HUB_PORTS; i++) {
			rx += ports[i].rx_frames;
			tx += ports[i].tx_frames;
		}
		if (rx - monitor.last_rx > monitor.peak_rx)
			monitor.peak_rx = rx - monitor.last_rx;
		if (tx == monitor.last_tx)
			monitor.idle++;
		monitor.last_rx = rx;
		monitor.last_tx = tx;
		monitor.polls++;
		if (config.verbose)
			fprintf(stderr, "%u in, %u out\n", rx, tx);
	}
	return 0;
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:s:a:t:b:v")) != -1) {
		unsigned n = optarg ? (unsigned)strtoul(optarg, NULL, 10) : 0;

		switch (c) {
		case 'n': config.frames = n; break;
		case 's': config.seed = n; break;
		case 'a': config.mac_age = n; break;
		case 't': config.tick_us = n ? n : 1; break;
		case 'b': config.storm_burst = (int)n; break;
		case 'v': config.verbose = true; break;
		default:
			fprintf(stderr, "usage: hubswitch [-n frames] [-s seed] [-a age] [-t us] [-b burst] [-v]\n");
			exit(2);
		}
	}
}

static void report(void)
{
	uint32_t rx = 0, tx = 0, lost = 0;

	for (unsigned i = 0; i < HUB_PORTS; i++) {
		rx += ports[i].rx_frames;
		tx += ports[i].tx_frames;
		lost += ports[i].rx_dropped + ports[i].tx_dropped;
	}
	printf("ports: %u in, %u out, %u lost\n", rx, tx, lost);
	for (unsigned v = 0; v < HUB_VLANS; v++)
		printf("vlan %u: %u frames, %u floods, %u denied\n", v, vlans[v].frames,
		       vlans[v].floods, vlans[v].denied);
	fdb_report();
	printf("storm control: %u trips; monitor: %u polls, peak %u, %u idle\n", storm_trips(),
	       monitor.polls, monitor.peak_rx, monitor.idle);
}

int main(int argc, char **argv)
{
	thrd_t timer, watcher;

	parse(argc, argv);
	frames_init();
	ports_init();
	vlans_init();
	fdb_init();
	storm_init();
	forward_start();
	if (thrd_create(&timer, timer_main, NULL) != thrd_success ||
	    thrd_create(&watcher, monitor_main, NULL) != thrd_success)
		hub_fatal("cannot start the timer");
	hosts_start();
	hosts_join();
	forward_stop();
	quit = true;
	thrd_join(timer, NULL);
	thrd_join(watcher, NULL);
	report();
	ports_destroy();
	vlans_free();
	printf("%u of %u frames are free\n", frames_free_count(), HUB_MAX_FRAMES);
	frames_destroy();
	return 0;
}
