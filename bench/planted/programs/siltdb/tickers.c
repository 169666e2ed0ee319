#include "silt.h"

static alignas(64) _Atomic uint32_t tickers[TICK_MAX];

static const char *const ticker_names[TICK_MAX] = {
	"put", "get.mem", "get.run", "get.miss", "flush", "compact", "corrupt", "stall",
};

/* distribution of the number of steps that an operation took */
#define LAT_SLOTS 8
static struct {
	alignas(64) uint16_t put[LAT_SLOTS];
	uint16_t get[LAT_SLOTS];
} lat;

void tick(enum ticker t)
{
	atomic_fetch_add_explicit(&tickers[t], 1, memory_order_relaxed);
}

uint64_t ticks(enum ticker t)
{
	return atomic_load_explicit(&tickers[t], memory_order_relaxed);
}

static unsigned lat_slot(unsigned steps)
{
	unsigned s = 0;

	while (steps > 1 && s < LAT_SLOTS - 1) {
		steps >>= 1;
		s++;
	}
	return s;
}

void lat_put(unsigned steps)
{
	lat.put[lat_slot(steps)]++;
}

void lat_get(unsigned steps)
{
	lat.get[lat_slot(steps)]++;
}

void tickers_report(FILE *f)
{
	for (int i = 0; i < TICK_MAX; i++)
		if (i == TICK_PUT || i == TICK_CORRUPT)
			fprintf(f, "%s %llu\n", ticker_names[i], (unsigned long long)ticks((enum ticker)i));
}
