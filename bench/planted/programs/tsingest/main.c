/* tsingest ROUNDS [NAME=VALUE]... */
#include "common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	long rounds;

	if (config_load(argc, argv, &rounds) < 0)
		return 2;
	if (stats_init() < 0 || wal_init() < 0 || store_init() < 0) {
		fprintf(stderr, "cannot start\n");
		return 1;
	}
	int rc = pipeline_run(rounds);
	stats_report();
	printf("%llu live points, %u series, %u in the log, synced %llu\n", (unsigned long long)atomic_load(&config.live_points),
	       atomic_load(&store.nseries), wal.fill, (unsigned long long)wal_synced());
	store_destroy();
	wal_destroy();
	stats_destroy();
	log_flush();
	return rc < 0;
}

/* Settings: defaults, then what the command line says. */

struct config config = {
	.max_len = LINE_MAX_LEN - 1,
	.precision = 3,
	.flush_every = 32,
	.sample_mask = 3,
	.retention = 4096,
	.verbose = 0,
};

struct option {
	const char *name;
	size_t offset;
	uint32_t low, high;
};

static const struct option options[] = {
	{ "max-len", offsetof(struct config, max_len), 16, LINE_MAX_LEN - 1 },
	{ "precision", offsetof(struct config, precision), 0, 6 },
	{ "flush-every", offsetof(struct config, flush_every), 1, 65536 },
	{ "sample-mask", offsetof(struct config, sample_mask), 0, 255 },
	{ "retention", offsetof(struct config, retention), 64, 1u << 20 },
	{ "verbose", offsetof(struct config, verbose), 0, 3 },
};

static int config_set(const char *arg)
{
	const char *eq = strchr(arg, '=');

	if (!eq)
		return -1;
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		const struct option *o = &options[i];
		if (strlen(o->name) != (size_t)(eq - arg) || memcmp(o->name, arg, strlen(o->name)))
			continue;
		char *end;
		unsigned long v = strtoul(eq + 1, &end, 10);
		if (*end || v < o->low || v > o->high)
			return -1;
		*(uint32_t *)((char *)&config + o->offset) = (uint32_t)v;
		return 0;
	}
	return -1;
}

int config_load(int argc, char **argv, long *rounds)
{
	*rounds = 200;
	for (int i = 1; i < argc; i++) {
		if (i == 1) {
			char *end;
			*rounds = strtol(argv[1], &end, 10);
			if (*end || *rounds <= 0) {
				fprintf(stderr, "usage: %s ROUNDS [NAME=VALUE]...\n", argv[0]);
				return -1;
			}
		} else if (config_set(argv[i]) < 0) {
			fprintf(stderr, "bad setting: %s\n", argv[i]);
			return -1;
		}
	}
	if (config.verbose)
		log_threshold = LOG_WARN + (int)config.verbose;
	return 0;
}

/* A log that is kept in memory under one lock and written at the end. */

#define LOG_LINES 64
#define LOG_WIDTH 120

int log_threshold = LOG_WARN;

static struct {
	pthread_mutex_t lock;
	uint32_t next;
	uint32_t lost;
	char lines[LOG_LINES][LOG_WIDTH];
} journal = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char *const level_names[] = { "error", "warn", "info", "debug" };

void log_msg(int level, const char *fmt, ...)
{
	va_list ap;
	char text[LOG_WIDTH];

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);

	pthread_mutex_lock(&journal.lock);
	if (journal.next < LOG_LINES)
		snprintf(journal.lines[journal.next++], LOG_WIDTH, "%-5s %-10.10s %.90s", level_names[level], task_name(), text);
	else
		journal.lost++;
	pthread_mutex_unlock(&journal.lock);
}

void log_flush(void)
{
	pthread_mutex_lock(&journal.lock);
	for (uint32_t i = 0; i < journal.next; i++)
		fprintf(stderr, "%s\n", journal.lines[i]);
	if (journal.lost)
		fprintf(stderr, "(%u more)\n", journal.lost);
	journal.next = journal.lost = 0;
	pthread_mutex_unlock(&journal.lock);
}
