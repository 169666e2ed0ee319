#include "gate.h"

struct event {
	const char *what;
	uint32_t value;
	uint32_t level;
};

#define RING 256

static struct {
	alignas(64) _Atomic uint32_t next;
	uint32_t threshold;
	const char *prefix;
	uint32_t suppressed;
} logger = { .threshold = LOG_INFO, .prefix = "gatehouse" };

static struct event ring[RING];

void log_set_threshold(enum log_level level)
{
	logger.threshold = level;
}

void log_event(enum log_level level, const char *what, uint32_t value)
{
	struct event *e;

	if (level < logger.threshold)
		return;
	e = &ring[atomic_fetch_add_explicit(&logger.next, 1, memory_order_relaxed) % RING];
	e->what = what;
	e->value = value;
	e->level = level;
}

void log_report(FILE *f)
{
	uint32_t n = atomic_load(&logger.next), per[LOG_LEVELS] = { 0 };

	for (uint32_t i = 0; i < RING && i < n; i++)
		per[ring[i].level % LOG_LEVELS]++;
	fprintf(f, "%s: %u events (last ring: %u info, %u warnings)\n", logger.prefix,
		n, per[LOG_INFO], per[LOG_WARN]);
}
