#include "status.h"
#include "graph.h"
#include "log.h"
#include "options.h"
#include "sched.h"
#include "util.h"

#include <pthread.h>

static struct {
	pthread_t thread;
	_Atomic int quit;
	unsigned interval_us;
	unsigned refreshes;
	uint32_t busy_samples;
	uint32_t idle_samples;
	uint32_t stale_seen;
} status = { .interval_us = 300 };

/* outputs that changed since the last look */
static uint32_t collect_stale(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < graph.n_targets; i++)
		if (stale[i]) {
			stale[i] = 0;
			n++;
		}
	return n;
}

static void sample_workers(void)
{
	for (int i = 0; i < opt.jobs; i++) {
		if (workers[i].current >= 0)
			status.busy_samples++;
		else
			status.idle_samples++;
	}
}

static void draw(void)
{
	uint32_t done = progress.finished;

	progress.rate = (progress.rate * 7 + (done - progress.shown)) / 8;
	progress.redraws++;
	progress.shown = done;
	if (opt.verbose)
		log_line("%u/%u started %u, %u per refresh", done, progress.total,
			 progress.started, progress.rate);
}

static void *status_main(void *arg)
{
	(void)arg;
	while (!status.quit) {
		nap_us(status.interval_us);
		draw();
		sample_workers();
		status.refreshes++;
		if (status.refreshes % 4 == 0)
			status.stale_seen += collect_stale();
	}
	return NULL;
}

void status_start(void)
{
	if (pthread_create(&status.thread, NULL, status_main, NULL))
		die("cannot start the status thread");
}

void status_stop(void)
{
	status.quit = 1;
	pthread_join(status.thread, NULL);
	status.stale_seen += collect_stale();
	printf("status: %u refreshes, %u busy, %u idle, %u changed outputs\n", status.refreshes,
	       status.busy_samples, status.idle_samples, status.stale_seen);
}
