#include "util.h"
#include "events.h"

#include <stdatomic.h>
#include <stdlib.h>

struct event {
	uint32_t seq;
	uint32_t target;
	uint16_t kind;
	uint16_t thread;
};

static struct {
	struct event *ring;
	uint32_t mask;
	_Atomic uint32_t next;
} trace;

static _Atomic unsigned threads_seen;
static _Thread_local unsigned thread_no;

void events_init(unsigned capacity)
{
	uint32_t n = 64;

	while (n < capacity)
		n *= 2;
	trace.ring = xcalloc(n, sizeof *trace.ring);
	trace.mask = n - 1;
}

void events_add(enum event_kind kind, uint32_t target)
{
	uint32_t seq = atomic_fetch_add_explicit(&trace.next, 1, memory_order_relaxed);
	struct event *e = &trace.ring[seq & trace.mask];

	if (!thread_no)
		thread_no = 1 + atomic_fetch_add(&threads_seen, 1);
	e->seq = seq;
	e->target = target;
	e->kind = (uint16_t)kind;
	e->thread = (uint16_t)thread_no;
}

unsigned events_export(FILE *f)
{
	unsigned open = 0, n = 0;

	for (uint32_t i = 0; i <= trace.mask; i++) {
		const struct event *e = &trace.ring[i];

		if (!e->kind)
			continue;
		n++;
		open += e->kind == EV_START;
		if (f)
			fprintf(f, "%u %u %u %u\n", e->seq, e->kind, e->target, e->thread);
	}
	return n - open;
}

void events_free(void)
{
	free(trace.ring);
	trace.ring = NULL;
}
