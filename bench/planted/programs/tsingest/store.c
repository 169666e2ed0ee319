/* Series in shards, points in chunks. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

struct store store;

/* A flat list for the query side; filled before it starts, then only read. */
static struct series *directory[LANES * SERIES_PER_LANE];
static unsigned directory_size;

static struct chunk *chunk_new(struct chunk *older, uint64_t base)
{
	if (!pool_fits(&store.chunks, sizeof(struct chunk)))
		return NULL;
	struct chunk *c = pool_get(&store.chunks);
	if (!c)
		return NULL;
	c->older = older;
	c->base = base;
	c->sealed = 0;
	atomic_store_explicit(&c->digest, 0, memory_order_relaxed);
	atomic_store_explicit(&c->count, 0, memory_order_release);
	return c;
}

int store_init(void)
{
	store.shards = aligned_alloc(CACHE_LINE, (SHARDS * sizeof(struct shard) + 63) / 64 * 64);
	if (!store.shards)
		return -1;
	for (int i = 0; i < SHARDS; i++) {
		struct shard *sh = &store.shards[i];
		pthread_mutex_init(&sh->lock, NULL);
		sh->list = NULL;
		sh->nseries = sh->lookups = 0;
	}
	return pool_init(&store.chunks, sizeof(struct chunk), 4096);
}

static struct series *series_new(uint32_t hash, const char *name, size_t len, int lane)
{
	struct series *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->hash = hash;
	s->lane = (uint16_t)lane;
	s->kind = hash & 1;
	s->scale = 1.0 + (hash & 7) * 0.125;
	if (len >= sizeof s->name)
		len = sizeof s->name - 1;
	memcpy(s->name, name, len);
	struct chunk *c = chunk_new(NULL, 0);
	if (!c) {
		free(s);
		return NULL;
	}
	atomic_init(&s->open, c);
	return s;
}

/* Shards belong to lanes: lane l uses shards l, l + LANES, ... */
struct series *store_find(uint32_t hash, const char *name, size_t len, int lane, bool create)
{
	struct shard *sh = &store.shards[(hash >> 8) % (SHARDS / LANES) * LANES + (unsigned)lane];
	struct series *s;

	pthread_mutex_lock(&sh->lock);
	sh->lookups++;
	for (s = sh->list; s; s = s->next)
		if (s->hash == hash && !strncmp(s->name, name, len) && !s->name[len])
			break;
	if (!s && create) {
		s = series_new(hash, name, len, lane);
		if (s) {
			s->next = sh->list;
			sh->list = s;
			sh->nseries++;
			if (directory_size < LANES * SERIES_PER_LANE)
				directory[directory_size++] = s;
			atomic_fetch_add(&store.nseries, 1);
		}
	}
	pthread_mutex_unlock(&sh->lock);
	return s;
}

struct series *store_pick(unsigned n)
{
	if (!directory_size)
		return NULL;
	return directory[n % directory_size];
}

void store_append(struct series *s, double value, uint64_t when)
{
	struct chunk *c = atomic_load_explicit(&s->open, memory_order_relaxed);
	uint32_t n = atomic_load_explicit(&c->count, memory_order_relaxed);

	if (n == CHUNK_POINTS) {
		/* Keep the newest chunk only; it is filled again from its start. */
		c->sealed++;
		c->base = when;
		n = 0;
	}
	c->values[n] = s->kind ? value * s->scale : value;
	atomic_store_explicit(&c->count, n + 1, memory_order_release);
}

void store_destroy(void)
{
	for (int i = 0; i < SHARDS; i++) {
		struct series *s = store.shards[i].list;
		while (s) {
			struct series *next = s->next;
			pool_put(&store.chunks, atomic_load(&s->open));
			free(s);
			s = next;
		}
		pthread_mutex_destroy(&store.shards[i].lock);
	}
	pool_destroy(&store.chunks);
	free(store.shards);
}

/* The write-ahead log: a buffer under a lock, and a mark how far it is on disk. */

#define WAL_BYTES 8192

struct wal wal;

int wal_init(void)
{
	wal.buffer = malloc(WAL_BYTES);
	if (!wal.buffer)
		return -1;
	atomic_init(&wal.synced, 0);
	return pthread_mutex_init(&wal.lock, NULL) ? -1 : 0;
}

void wal_append(const void *data, uint32_t len)
{
	pthread_mutex_lock(&wal.lock);
	if (wal.fill + len > WAL_BYTES)
		wal.fill = 0;
	memcpy(wal.buffer + wal.fill, data, len);
	wal.fill += len;
	wal.crc = wal.crc * 31 + len;
	pthread_mutex_unlock(&wal.lock);
}

void wal_note_synced(uint64_t lsn)
{
	atomic_store_explicit(&wal.synced, lsn, memory_order_release);
}

uint64_t wal_synced(void)
{
	return atomic_load_explicit(&wal.synced, memory_order_acquire);
}

void wal_destroy(void)
{
	pthread_mutex_destroy(&wal.lock);
	free(wal.buffer);
}
