#include "fdb.h"

#include <stdio.h>
#include <string.h>
#include <threads.h>

#define FDB_SIZE 256u
#define FDB_WAYS 2u

struct fdb_entry {
	uint8_t mac[6];
	uint8_t vlan;
	uint8_t port;
	uint32_t seen;		/* tick of the last frame from there */
	uint32_t used;		/* frames sent to it */
};

static struct fdb_entry fdb[FDB_SIZE];
static mtx_t fdb_lock;		/* for new addresses and moves only */

static struct {
	uint32_t learned;
	uint32_t moved;
	uint32_t expired;
	uint32_t collisions;
	_Atomic uint32_t unknown;
	uint32_t scans;
} fdb_stats;

void fdb_init(void)
{
	if (mtx_init(&fdb_lock, mtx_plain) != thrd_success)
		hub_fatal("mtx_init");
}

static inline uint32_t fdb_hash(const uint8_t mac[6], uint16_t vlan)
{
	uint32_t h = (uint32_t)mac[5] | (uint32_t)mac[4] << 8 | (uint32_t)mac[3] << 16;

	h = (h ^ vlan * 0x9e37u) * 2654435761u;
	return (h >> 20) & (FDB_SIZE - 1) & ~(FDB_WAYS - 1);
}

static struct fdb_entry *fdb_find(const uint8_t mac[6], uint16_t vlan, uint32_t slot)
{
	for (uint32_t i = 0; i < FDB_WAYS; i++) {
		struct fdb_entry *e = &fdb[slot + i];

		if (e->seen && e->vlan == vlan && !memcmp(e->mac, mac, 6))
			return e;
	}
	return NULL;
}

void fdb_learn(const uint8_t mac[6], uint16_t vlan, uint8_t port)
{
	uint32_t slot = fdb_hash(mac, vlan);
	struct fdb_entry *e = fdb_find(mac, vlan, slot);

	if (e && e->port == port) {
		e->seen = hub_ticks;
		return;
	}
	mtx_lock(&fdb_lock);
	if (e) {
		e->port = port;
		fdb_stats.moved++;
	} else {
		e = &fdb[slot];
		if (e->seen && (!e[1].seen || e[1].seen < e->seen))
			e++;
		if (e->seen)
			fdb_stats.collisions++;
		memcpy(e->mac, mac, 6);
		e->vlan = (uint8_t)vlan;
		e->port = port;
		e->used = 0;
		fdb_stats.learned++;
	}
	e->seen = hub_ticks;
	mtx_unlock(&fdb_lock);
}

uint8_t fdb_lookup(const uint8_t mac[6], uint16_t vlan)
{
	struct fdb_entry *e = fdb_find(mac, vlan, fdb_hash(mac, vlan));

	if (!e) {
		atomic_fetch_add_explicit(&fdb_stats.unknown, 1, memory_order_relaxed);
		return BROADCAST_PORT;
	}
	e->used++;
	return e->port;
}

/* by the timer */
unsigned fdb_expire(uint32_t now)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < FDB_SIZE; i++) {
		struct fdb_entry *e = &fdb[i];

		if (!e->seen || now - e->seen < config.mac_age)
			continue;
		e->seen = 0;
		n++;
	}
	fdb_stats.expired += n;
	fdb_stats.scans++;
	return n;
}

void fdb_report(void)
{
	printf("fdb: %u learned, %u moved, %u expired, %u collisions, %u unknown, %u scans\n",
	       fdb_stats.learned, fdb_stats.moved, fdb_stats.expired, fdb_stats.collisions,
	       fdb_stats.unknown, fdb_stats.scans);
}
