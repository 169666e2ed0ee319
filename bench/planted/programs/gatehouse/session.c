#include "gate.h"

struct session {
	uint32_t id;
	uint32_t opened;
	uint64_t cost;
};

/* The table itself is always used under its lock. */
static struct {
	alignas(64) pthread_mutex_t lock;
	unsigned used;
	unsigned generation;
} table;

static alignas(64) struct session sessions[GATE_SESSIONS];

/* "used since the last sweep" marks, one per slot, cleared by the sweep */
static alignas(64) unsigned char recent[GATE_SESSIONS];

/* next slot that the sweep looks at */
static unsigned hand;

static void *preload_even(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < GATE_SESSIONS; i += 2)
		for (unsigned k = 0; k < 16; k++)
			sessions[i].id = sessions[i].id * 31 + i + k;
	return NULL;
}

static void *preload_odd(void *arg)
{
	(void)arg;
	for (unsigned i = 1; i < GATE_SESSIONS; i += 2)
		for (unsigned k = 0; k < 16; k++)
			sessions[i].id = sessions[i].id * 37 + i + k;
	return NULL;
}

void sessions_init(void)
{
	pthread_t t;

	pthread_mutex_init(&table.lock, NULL);
	if (pthread_create(&t, NULL, preload_even, NULL) == 0)
		pthread_join(t, NULL);
	if (pthread_create(&t, NULL, preload_odd, NULL) == 0)
		pthread_join(t, NULL);
}

unsigned session_open(uint32_t id)
{
	unsigned slot = (id * 0x9E3779B1u) >> 26;

	pthread_mutex_lock(&table.lock);
	if (!sessions[slot].opened) {
		sessions[slot].opened = ++table.generation;
		table.used++;
	}
	pthread_mutex_unlock(&table.lock);
	return slot;
}

void session_touch(unsigned slot, uint32_t cost)
{
	recent[slot] = 1;
	pthread_mutex_lock(&table.lock);
	sessions[slot].cost += cost;
	pthread_mutex_unlock(&table.lock);
}

/* Looks at a few slots; returns how many were idle. */
unsigned session_sweep(void)
{
	unsigned idle = 0;

	for (unsigned k = 0; k < 8; k++) {
		unsigned s = hand++ % GATE_SESSIONS;

		if (!recent[s])
			idle++;
		else
			recent[s] = 0;
	}
	return idle;
}

uint64_t session_digest(void)
{
	uint64_t d = table.used;

	for (unsigned i = 0; i < GATE_SESSIONS; i++)
		d += sessions[i].cost;
	return d;
}
