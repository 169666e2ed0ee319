/* tsingest: a small time-series ingester.  Shared types and constants. */
#ifndef COMMON_H
#define COMMON_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES 2			/* one reader and one ingester per lane */
#define SHARDS 4
#define SERIES_PER_LANE 6
#define LINE_MAX_LEN 96
#define CACHE_LINE 64

/* ---- thread.c: everything that runs beside main goes through here ---- */

typedef void (*task_fn)(void *self, int index);

struct task {
	const char *name;
	task_fn fn;
	void *self;
	int index;
	pthread_t handle;
	bool started;
};

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	int waiting;
	int wanted;
	unsigned generation;
};

int task_start(struct task *t, const char *name, task_fn fn, void *self, int index);
void task_join(struct task *t);
void gate_init(struct gate *g, int wanted);
void gate_wait(struct gate *g);
void gate_destroy(struct gate *g);
const char *task_name(void);

/* ---- config.c ---- */

struct config {
	_Alignas(CACHE_LINE) uint32_t max_len;		/* longest line that is accepted */
	uint32_t precision;		/* digits behind the point */
	uint32_t flush_every;
	uint32_t sample_mask;
	_Atomic uint64_t live_points;	/* points that are in memory now */
	uint32_t retention;
	uint32_t verbose;
};

extern struct config config;

int config_load(int argc, char **argv, long *rounds);

/* ---- log.c ---- */

enum { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

extern int log_threshold;
void log_msg(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_flush(void);

#define LOG(level, ...) do { if ((level) <= log_threshold) log_msg(level, __VA_ARGS__); } while (0)

/* ---- pool.c ---- */

struct pool_item {
	struct pool_item *next;
};

struct pool {
	size_t item_size;
	size_t limit;
	pthread_mutex_t lock;
	struct pool_item *free;
	size_t out;
	size_t made;
};

int pool_init(struct pool *p, size_t item_size, size_t limit);
void *pool_get(struct pool *p);
void pool_put(struct pool *p, void *item);
bool pool_fits(const struct pool *p, size_t n);
void pool_destroy(struct pool *p);

/* ---- ring.c ---- */

struct line {
	uint16_t len;
	uint16_t lane;
	uint32_t crc;
	char text[LINE_MAX_LEN];
};

struct ring {
	struct line **slots;
	uint32_t mask;
	_Atomic uint32_t head;		/* the ingester takes here */
	_Atomic uint32_t tail;		/* the reader puts here */
};

int ring_init(struct ring *r, uint32_t size);
bool ring_put(struct ring *r, struct line *l);
struct line *ring_take(struct ring *r);
void ring_destroy(struct ring *r);

/* ---- store.c ---- */

#define CHUNK_POINTS 64

struct chunk {
	struct chunk *older;
	uint64_t base;
	uint32_t sealed;
	_Atomic uint32_t count;
	_Atomic uint32_t digest;	/* the compactor's running digest of this chunk */
	double values[CHUNK_POINTS];
};

struct series {
	struct series *next;
	uint32_t hash;
	uint16_t kind;
	uint16_t lane;
	double scale;
	_Atomic uint32_t refs;		/* readers that look at it */
	_Atomic(struct chunk *) open;
	char name[28];
};

struct shard {
	pthread_mutex_t lock;
	struct series *list;
	uint32_t nseries;
	uint32_t lookups;
};

struct store {
	struct shard *shards;
	struct pool chunks;
	_Atomic uint32_t nseries;
};

extern struct store store;

int store_init(void);
struct series *store_find(uint32_t hash, const char *name, size_t len, int lane, bool create);
struct series *store_pick(unsigned n);
void store_append(struct series *s, double value, uint64_t when);
void store_destroy(void);

/* ---- wal.c ---- */

struct wal {
	pthread_mutex_t lock;
	uint32_t fill;
	uint32_t crc;
	_Atomic uint64_t synced;	/* how far the flusher has come */
	uint8_t *buffer;
};

extern struct wal wal;
int wal_init(void);
void wal_append(const void *data, uint32_t len);
void wal_note_synced(uint64_t lsn);
uint64_t wal_synced(void);
void wal_destroy(void);

/* ---- stats.c ---- */

struct lane_stat {
	uint64_t points;
	uint64_t bytes;
	uint64_t rejected;
};

struct reader_stat {
	uint64_t lines;
	uint64_t stalls;
};

struct padded_stat {
	_Alignas(CACHE_LINE) uint64_t parsed;
	uint64_t digits;
};

struct cursor {
	uint64_t position;
	uint32_t wraps;
};

struct control {
	_Alignas(CACHE_LINE) _Atomic uint32_t paused;	/* ingesters look at it now and then */
	_Atomic uint32_t level;
	uint64_t beats;			/* the compactor's heartbeat */
};

extern struct lane_stat lane_stats[LANES];
extern struct padded_stat padded_stats[LANES];
extern struct reader_stat *reader_stats;
extern struct cursor *cursors[LANES];
extern struct control control;
extern uint8_t dirty[SHARDS * 8];
extern _Atomic uint64_t clock_now;
extern _Atomic uint32_t query_epoch;
extern uint64_t compacted_total;
extern uint64_t parse_errors, queue_errors, store_errors;

int stats_init(void);
void stats_lane(int lane, size_t bytes);
void stats_reader(int lane, unsigned lines);
void stats_cursor(int lane, uint32_t step);
void stats_digits(int lane, unsigned n);
void stats_report(void);
void stats_destroy(void);

/* ---- pipeline.c ---- */

int pipeline_run(long rounds);

static inline uint32_t hash_bytes(const char *p, size_t n)
{
	uint32_t h = 2166136261u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)p[i]) * 16777619u;
	return h;
}

#endif
