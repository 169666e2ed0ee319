#include "gate.h"

/* Every service thread has a slot; a slot whose beat stands still for long
 * is reported by the timer. */
struct watch {
	const char *name;
	uint16_t role;
	uint16_t armed;
	uint32_t beat;
};

#define WATCH_MAX 12

static alignas(64) struct watch watches[WATCH_MAX];
static _Atomic unsigned watch_used;
static _Thread_local unsigned my_beats;

unsigned watch_join(enum role role, const char *name)
{
	unsigned slot = atomic_fetch_add(&watch_used, 1);

	if (slot >= WATCH_MAX)
		abort();
	watches[slot].name = name;
	watches[slot].role = (uint16_t)role;
	watches[slot].armed = 1;
	return slot;
}

void watch_beat(unsigned slot)
{
	my_beats++;
	watches[slot].beat = my_beats;
}

unsigned watch_scan(void)
{
	unsigned still = 0, n = atomic_load(&watch_used);
	static uint32_t seen[WATCH_MAX];

	for (unsigned i = 0; i < n; i++) {
		struct watch *w = &watches[i];

		if (!w->armed || w->role == ROLE_TIMER)
			continue;
		if (w->beat == seen[i])
			still++;
		seen[i] = w->beat;
	}
	return still;
}
