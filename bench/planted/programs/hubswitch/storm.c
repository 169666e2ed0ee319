#include "storm.h"

/* how many frames of unknown or no single destination a port may send */
static _Atomic int tokens[HUB_PORTS];
static uint8_t tripped[HUB_PORTS];
static unsigned refills;
static unsigned trips;

void storm_init(void)
{
	for (unsigned i = 0; i < HUB_PORTS; i++)
		tokens[i] = config.storm_burst;
}

bool storm_allow(unsigned port)
{
	if (atomic_fetch_sub_explicit(&tokens[port], 1, memory_order_relaxed) > 0)
		return true;
	atomic_fetch_add_explicit(&tokens[port], 1, memory_order_relaxed);
	tripped[port] = 1;
	return false;
}

void storm_refill(void)
{
	for (unsigned i = 0; i < HUB_PORTS; i++) {
		if (tokens[i] < config.storm_burst)
			atomic_fetch_add_explicit(&tokens[i], config.storm_burst / 4, memory_order_relaxed);
		if (tripped[i]) {
			tripped[i] = 0;
			trips++;
		}
	}
	refills++;
}

unsigned storm_trips(void)
{
	return trips;
}
