/* Readers, ingesters, the compactor and the query thread. */
#include "common.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct source {
	struct ring ring;
	struct pool lines;
	uint64_t sent;			/* by the reader */
	uint64_t acked;			/* by the ingester */
	uint32_t seed;
};

struct calibration {
	uint32_t offset;
	uint32_t spread;
};

struct query {
	uint64_t seen;			/* points the query thread looked at */
	double sum;
	_Atomic uint32_t generation;	/* the compactor counts it up */
	uint32_t hits;
};

struct pipeline {
	long rounds;
	struct gate gate;
	struct source *sources;
	struct query *query;
	_Atomic int running;
	struct {
		uint64_t passes;
		uint64_t visited;
		double checksum;
	} compaction;			/* the compactor's own */
	struct {
		int threads;
		int failed;
	} startup;
};

static struct calibration calibrations[LANES];
static uint8_t crc_table[256];

static void build_tables(void)
{
	for (unsigned i = 0; i < 256; i++) {
		unsigned c = i;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? (c >> 1) ^ 0x8c : c >> 1;
		crc_table[i] = (uint8_t)c;
	}
}

static size_t put_number(char *to, unsigned long v)
{
	char tmp[20];
	size_t n = 0, k = 0;

	do
		tmp[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		to[k++] = tmp[--n];
	return k;
}

/* Make the next line: "name value time". */
static uint16_t compose(struct source *src, int lane, char *text)
{
	size_t n = 0;
	uint32_t x = src->seed = src->seed * 1664525u + 1013904223u;
	const struct calibration *cal = &calibrations[(lane + 1) % LANES];

	memcpy(text, "host.", 5);
	n = 5;
	n += put_number(text + n, (unsigned)lane * SERIES_PER_LANE + (x >> 8) % SERIES_PER_LANE);
	text[n++] = ' ';
	n += put_number(text + n, (x >> 4) % (cal->spread + 1) + cal->offset);
	text[n++] = '.';
	n += put_number(text + n, x % 1000);
	text[n++] = ' ';
	n += put_number(text + n, atomic_load_explicit(&clock_now, memory_order_relaxed));
	text[n] = 0;
	return (uint16_t)n;
}

static uint32_t checksum(const char *p, size_t n)
{
	uint8_t c = 0;

	for (size_t i = 0; i < n; i++)
		c = crc_table[c ^ (uint8_t)p[i]];
	return c;
}

static void calibrate(int lane)
{
	uint32_t x = 12345u + (uint32_t)lane;

	for (int i = 0; i < 40; i++) {
		x = x * 69069u + 1;
		calibrations[lane].spread = (calibrations[lane].spread + (x >> 20)) % 9000;
		calibrations[lane].offset ^= x & 15;
	}
}

static void reader(void *self, int lane)
{
	struct pipeline *p = self;
	struct source *src = &p->sources[lane];

	calibrate(lane);
	gate_wait(&p->gate);
	for (long i = 0; i < p->rounds; i++) {
		struct line *l;

		while (!(l = pool_get(&src->lines))) {
			reader_stats[lane].stalls++;
			sched_yield();
		}
		l->lane = (uint16_t)lane;
		l->len = compose(src, lane, l->text);
		if (l->len > config.max_len) {
			l->len = (uint16_t)config.max_len;
			queue_errors++;
		}
		l->crc = checksum(l->text, l->len);
		while (!ring_put(&src->ring, l))
			sched_yield();
		src->sent++;
		if ((i & 3) == 3)
			stats_reader(lane, 4);
		if (lane == 0)
			atomic_fetch_add_explicit(&clock_now, 1, memory_order_relaxed);
	}
	atomic_fetch_sub(&p->running, 1);
}

static bool parse_value(const char *s, const char *end, double *value, int lane)
{
	double v = 0, f = 0.1;
	unsigned digits = 0;

	for (; s < end && *s >= '0' && *s <= '9'; s++, digits++)
		v = v * 10 + (*s - '0');
	if (s < end && *s == '.')
		for (s++; s < end && *s >= '0' && *s <= '9' && digits < 12; s++, digits++, f /= 10)
			v += (*s - '0') * f;
	stats_digits(lane, digits);
	*value = v;
	return digits > 0;
}

static void ingest_line(struct pipeline *p, const struct line *l, int lane)
{
	const char *name = l->text;
	const char *sp = memchr(name, ' ', l->len);
	double value;

	(void)p;
	if (!sp || checksum(l->text, l->len) != l->crc || !parse_value(sp + 1, l->text + l->len, &value, lane)) {
		parse_errors++;
		lane_stats[lane].rejected++;
		LOG(LOG_WARN, "bad line: %.40s", l->text);
		return;
	}
	uint32_t hash = hash_bytes(name, (size_t)(sp - name));
	struct series *s = store_find(hash, name, (size_t)(sp - name), lane, false);
	if (!s) {
		store_errors++;
		LOG(LOG_WARN, "no series: %.40s", l->text);
		return;
	}
	store_append(s, value, atomic_load_explicit(&query_epoch, memory_order_relaxed));
	dirty[lane * 8 + (hash & 7)] = 1;
	atomic_fetch_add_explicit(&config.live_points, 1, memory_order_relaxed);
	stats_lane(lane, l->len);
	if (hash & 2)
		stats_cursor(lane, l->len);
}

static void ingester(void *self, int lane)
{
	struct pipeline *p = self;
	struct source *src = &p->sources[lane];

	gate_wait(&p->gate);
	for (long i = 0; i < p->rounds; i++) {
		struct line *l;

		while (!(l = ring_take(&src->ring)))
			sched_yield();
		if ((i & 3) == 0 && atomic_load_explicit(&control.paused, memory_order_relaxed))
			sched_yield();
		ingest_line(p, l, lane);
		src->acked++;
		if ((i & config.sample_mask) == 0)
			wal_append(l->text, l->len);
		pool_put(&src->lines, l);
	}
	atomic_fetch_sub(&p->running, 1);
}

/* Goes over the open chunks and keeps a digest of each. */
static void compactor(void *self, int index)
{
	struct pipeline *p = self;

	(void)index;
	gate_wait(&p->gate);
	for (long i = 0; i < p->rounds; i++) {
		struct series *s = store_pick((unsigned)i);
		struct chunk *c = atomic_load_explicit(&s->open, memory_order_acquire);
		uint32_t n = atomic_load_explicit(&c->count, memory_order_acquire);
		uint32_t d = atomic_load_explicit(&c->digest, memory_order_relaxed);
		double sum = 0;

		for (uint32_t k = 0; k < n && k < CHUNK_POINTS; k++)
			sum += c->values[k];
		d = d * 33 + (uint32_t)(int64_t)sum % 8191;
		atomic_store_explicit(&c->digest, d, memory_order_relaxed);
		p->compaction.passes++;
		p->compaction.visited += n;
		p->compaction.checksum += sum;
		control.beats++;
		compacted_total += n;
		if ((i & 7) == 0)
			atomic_fetch_add_explicit(&p->query->generation, 1, memory_order_relaxed);
		wal_note_synced((uint64_t)i);
		if ((i & 15) == 15)
			sched_yield();
		LOG(LOG_DEBUG, "pass %ld over %u points", i, n);
	}
	atomic_fetch_sub(&p->running, 1);
}

static void asker(void *self, int index)
{
	struct pipeline *p = self;
	struct query *q = p->query;

	(void)index;
	gate_wait(&p->gate);
	for (long i = 0; i < p->rounds; i++) {
		struct series *s = store_pick((unsigned)i * 7);
		double low = 1e300, high = -1e300;

		atomic_fetch_add_explicit(&s->refs, 1, memory_order_acquire);
		struct chunk *c = atomic_load_explicit(&s->open, memory_order_acquire);
		for (unsigned k = 0; k < 24; k++) {
			double v = c->values[(k * 5 + (unsigned)i) % CHUNK_POINTS];
			low = v < low ? v : low;
			high = v > high ? v : high;
		}
		atomic_fetch_sub_explicit(&s->refs, 1, memory_order_release);
		q->seen += 24;
		q->sum += high - low;
		if (high > low)
			q->hits++;
		if ((i & 3) == 0)
			atomic_fetch_add_explicit(&query_epoch, 1, memory_order_relaxed);
		if ((uint32_t)wal_synced() > config.retention && config.verbose > 2)
			LOG(LOG_INFO, "old points at %ld", i);
		if ((i & 15) == 7)
			sched_yield();
	}
	atomic_fetch_sub(&p->running, 1);
}

static int prepare(struct pipeline *p)
{
	build_tables();
	p->sources = aligned_alloc(CACHE_LINE, LANES * ((sizeof(struct source) + 63) / 64 * 64));
	p->query = aligned_alloc(CACHE_LINE, CACHE_LINE);
	if (!p->sources || !p->query)
		return -1;
	memset(p->query, 0, sizeof *p->query);
	for (int lane = 0; lane < LANES; lane++) {
		struct source *src = &p->sources[lane];

		memset(src, 0, sizeof *src);
		src->seed = 77u + (uint32_t)lane;
		if (ring_init(&src->ring, 64) < 0 || pool_init(&src->lines, sizeof(struct line), 64) < 0)
			return -1;
		for (unsigned k = 0; k < SERIES_PER_LANE; k++) {
			char name[24] = "host.";
			size_t n = 5 + put_number(name + 5, (unsigned)lane * SERIES_PER_LANE + k);
			struct series *s = store_find(hash_bytes(name, n), name, n, lane, true);
			if (!s)
				return -1;
			memset(atomic_load(&s->open)->values, 0, sizeof(double) * CHUNK_POINTS);
		}
	}
	return 0;
}

int pipeline_run(long rounds)
{
	static struct pipeline p;
	struct task tasks[2 * LANES + 2];
	int n = 0;

	memset(tasks, 0, sizeof tasks);
	p.rounds = rounds;
	if (prepare(&p) < 0) {
		LOG(LOG_ERROR, "out of memory");
		return -1;
	}
	gate_init(&p.gate, 2 * LANES + 2);
	atomic_store(&p.running, 2 * LANES + 2);
	for (int lane = 0; lane < LANES; lane++) {
		p.startup.failed += task_start(&tasks[n++], "reader", reader, &p, lane) < 0;
		p.startup.failed += task_start(&tasks[n++], "ingester", ingester, &p, lane) < 0;
	}
	p.startup.failed += task_start(&tasks[n++], "compactor", compactor, &p, 0) < 0;
	p.startup.failed += task_start(&tasks[n++], "query", asker, &p, 0) < 0;
	p.startup.threads = n;
	if (p.startup.failed)
		exit(1);	/* the others wait at the gate for ever */
	for (int i = 0; i < n; i++)
		task_join(&tasks[i]);
	printf("%d threads, %llu passes over %llu points, checksum %.3f; query saw %llu, sum %.3f, hits %u, generation %u\n",
	       p.startup.threads, (unsigned long long)p.compaction.passes, (unsigned long long)p.compaction.visited,
	       p.compaction.checksum, (unsigned long long)p.query->seen, p.query->sum, p.query->hits,
	       atomic_load(&p.query->generation));
	for (int lane = 0; lane < LANES; lane++) {
		printf("source %d: sent %llu, acked %llu\n", lane, (unsigned long long)p.sources[lane].sent,
		       (unsigned long long)p.sources[lane].acked);
		ring_destroy(&p.sources[lane].ring);
		pool_destroy(&p.sources[lane].lines);
	}
	gate_destroy(&p.gate);
	free(p.query);
	free(p.sources);
	return 0;
}
