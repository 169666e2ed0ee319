/* siltdb: a small log-structured key/value store. */
#ifndef SILT_H
#define SILT_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SILT_BUCKETS    256
#define SILT_MAX_RUNS   8
#define SILT_WRITERS    2
#define SILT_READERS    2
#define SILT_HOT_KEYS   512u
#define SILT_ALL_KEYS   2048u
#define SILT_BLOCK      16
#define SILT_CACHE      64

typedef _Atomic uint32_t latch_t;

static inline void latch_lock(latch_t *l)
{
	uint32_t free = 0;

	while (!atomic_compare_exchange_weak_explicit(l, &free, 1, memory_order_acquire,
						      memory_order_relaxed)) {
		free = 0;
		sched_yield();
	}
}

static inline void latch_unlock(latch_t *l)
{
	atomic_store_explicit(l, 0, memory_order_release);
}

/* ---- tickers.c ---- */
enum ticker {
	TICK_PUT, TICK_GET_MEM, TICK_GET_RUN, TICK_GET_MISS,
	TICK_FLUSH, TICK_COMPACT, TICK_CORRUPT, TICK_STALL, TICK_MAX
};
void tick(enum ticker t);
uint64_t ticks(enum ticker t);
void lat_put(unsigned steps);
void lat_get(unsigned steps);
void tickers_report(FILE *f);

/* ---- arena.c ---- */
struct arena {
	unsigned char *cur;
	unsigned char *end;
	uint32_t blocks;
	uint32_t bytes;
};
void *arena_alloc(struct arena *a, size_t n);

/* ---- memtable.c ---- */
struct node {
	struct node *next;
	uint32_t key;
	_Atomic uint32_t val;
};
struct memtable {
	alignas(64) _Atomic(struct node *) bucket[SILT_BUCKETS];
	alignas(64) _Atomic uint32_t bloom[32];
	alignas(64) struct arena arenas[SILT_WRITERS];
};
struct memtable *mem_create(void);
unsigned mem_put(struct memtable *m, unsigned writer, uint32_t key, uint32_t val);
bool mem_get(struct memtable *m, uint32_t key, uint32_t *val, unsigned *steps);

/* ---- wal.c ---- */
struct wal {
	alignas(64) unsigned char *buf;
	uint32_t size;
	uint32_t appended;
	uint32_t records;
	uint32_t wraps;
	uint32_t synced;
	uint32_t syncs;
	uint32_t crc;
};
struct wal *wal_open(uint32_t size);
void wal_append(struct wal *w, latch_t *latch, const void *rec, uint32_t len);
unsigned wal_sync(struct wal *w);

/* ---- run.c ---- */
struct run {
	_Atomic int32_t refs;
	uint32_t id;
	uint32_t count;
	uint32_t min, max;
	uint32_t *keys;
	uint32_t *vals;
};
struct run *run_create(uint32_t count);
void run_seal(struct run *r);
static inline void run_get(struct run *r)
{
	atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
}
void run_put(struct run *r);
int run_find(const struct run *r, uint32_t key, unsigned *steps);

/* ---- cache.c ---- */
void cache_init(void);
void cache_pin(uint32_t run, uint32_t block);
void cache_unpin(uint32_t run, uint32_t block);
unsigned cache_age(void);
uint64_t cache_used(void);

/* ---- db.c ---- */
struct options {
	uint32_t wal_size;
	unsigned compact_at;
	bool verify;
};
struct silt {
	struct memtable *mem;
	struct wal *wal;
	const struct options *options;
	_Atomic uint32_t seq;
	uint32_t epoch;
	latch_t wal_latch;
	latch_t manifest_latch;
	uint32_t stalls;
	alignas(64) unsigned run_count;
	uint32_t next_run;
	struct run *runs[SILT_MAX_RUNS];
};
struct silt *silt_open(const struct options *o);
void silt_close(struct silt *db);
void silt_put(struct silt *db, unsigned writer, uint32_t key, uint32_t val);
int silt_get(struct silt *db, uint32_t key, uint32_t *val);
unsigned silt_pin(struct silt *db, struct run **out);
bool silt_add_run(struct silt *db, struct run *r);
bool silt_replace(struct silt *db, struct run *a, struct run *b, struct run *by);

/* ---- service.c ---- */
void throttle_writer(void);
int services_start(struct silt *db);
void services_stop(void);
void services_report(FILE *f);

/* ---- workload.c ---- */
struct cursor {
	uint32_t state;
	uint32_t ops;
	uint32_t found;
	uint32_t sum;
	uint32_t skipped;
};
int workload_run(struct silt *db, unsigned ops, FILE *f);

#endif
