/* The observer keeps a history, the tuner suggests a level; neither meets the workers. */
#include "phys.h"

#include <stdio.h>

struct tuning tuning = { .gain = 0.5f };
atomic_ulong tuner_ticks;

static void keep(struct history *h, float v)
{
	mtx_lock(&h->lock);
	h->values[h->used++ % 32] = v;
	h->last = v;
	mtx_unlock(&h->lock);
}

int observer_main(void *arg)
{
	struct sim *s = arg;
	uint32_t x = 5;

	for (long i = 0; i < s->rounds * 20; i++) {
		float v = 0;

		for (int k = 0; k < 24; k++) {
			x = x * 1103515245u + 12345u;
			v += (float)((x >> 16) & 63) * 0.125f;
		}
		s->observer.samples++;
		s->observer.sum += v;
		if ((uint32_t)i % params.probe_every == 0)
			keep(&s->history, v);
		if ((i & 31) == 31)
			thrd_yield();
	}
	return 0;
}

int tuner_main(void *arg)
{
	struct sim *s = arg;
	uint32_t x = 11;

	for (long i = 0; i < s->rounds * 20; i++) {
		for (int k = 0; k < 40; k++)
			x ^= x << 13, x ^= x >> 17, x ^= x << 5;
		atomic_store_explicit(&tuning.suggested, x & 1023, memory_order_relaxed);
		atomic_fetch_add_explicit(&tuner_ticks, 1, memory_order_relaxed);
		if ((i & 1023) == 1000 && params.report)
			note(1, "suggested %u", x & 1023);
		if (log_level > 2)
			note(2, "tick %ld", i);
		if ((i & 31) == 31)
			thrd_yield();
	}
	return 0;
}
