#include "cache.h"
#include "util.h"

#include <pthread.h>
#include <stdatomic.h>

#define CACHE_SLOTS 1024u
#define CACHE_STRIPES 8u

struct artifact {
	uint32_t key;
	uint32_t output;
	uint32_t last_used;	/* epoch */
	uint32_t uses;
};

static struct artifact table[CACHE_SLOTS];
static pthread_spinlock_t stripes[CACHE_STRIPES];

static struct {
	uint32_t epoch;		/* round of the build, set between rounds */
	uint32_t probe_limit;
	_Atomic uint32_t hits;
	_Atomic uint32_t misses;
	_Atomic uint32_t evictions;
} cache_info = { .probe_limit = 4 };

void cache_init(void)
{
	for (unsigned i = 0; i < CACHE_STRIPES; i++)
		pthread_spin_init(&stripes[i], PTHREAD_PROCESS_PRIVATE);
}

void cache_destroy(void)
{
	for (unsigned i = 0; i < CACHE_STRIPES; i++)
		pthread_spin_destroy(&stripes[i]);
}

void cache_set_epoch(uint32_t epoch)
{
	cache_info.epoch = epoch;
}

static inline pthread_spinlock_t *stripe_of(uint32_t slot)
{
	return &stripes[slot / (CACHE_SLOTS / CACHE_STRIPES)];
}

/* the slots of a key are neighbours and belong to one stripe */
static inline uint32_t home_slot(uint32_t key)
{
	return (key * 2654435761u >> 22) & (CACHE_SLOTS - 1) & ~3u;
}

bool cache_lookup(uint32_t key, uint32_t *output)
{
	uint32_t slot = home_slot(key);
	pthread_spinlock_t *lock = stripe_of(slot);
	bool found = false;

	pthread_spin_lock(lock);
	for (uint32_t i = 0; i < cache_info.probe_limit; i++) {
		struct artifact *a = &table[slot + i];

		if (a->key != key)
			continue;
		a->uses++;
		a->last_used = cache_info.epoch;
		*output = a->output;
		found = true;
		break;
	}
	pthread_spin_unlock(lock);
	if (found)
		atomic_fetch_add_explicit(&cache_info.hits, 1, memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&cache_info.misses, 1, memory_order_relaxed);
	return found;
}

void cache_store(uint32_t key, uint32_t output)
{
	uint32_t slot = home_slot(key), victim = slot;
	pthread_spinlock_t *lock = stripe_of(slot);

	pthread_spin_lock(lock);
	for (uint32_t i = 0; i < cache_info.probe_limit; i++) {
		if (!table[slot + i].key) {
			victim = slot + i;
			break;
		}
		if (table[slot + i].uses < table[victim].uses)
			victim = slot + i;
	}
	if (table[victim].key)
		atomic_fetch_add_explicit(&cache_info.evictions, 1, memory_order_relaxed);
	table[victim] = (struct artifact){ key, output, cache_info.epoch, 0 };
	pthread_spin_unlock(lock);
}

/* between two rounds, by the main thread */
void cache_expire(uint32_t before)
{
	for (uint32_t i = 0; i < CACHE_SLOTS; i++)
		if (table[i].key && table[i].last_used < before)
			table[i] = (struct artifact){ 0 };
}

void cache_report(void)
{
	printf("cache: %u hits, %u misses, %u evictions\n", cache_info.hits,
	       cache_info.misses, cache_info.evictions);
}
