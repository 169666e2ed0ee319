#include "silt.h"

struct record {
	uint32_t seq, key, val;
};

static alignas(64) _Atomic int open_handles;

struct silt *silt_open(const struct options *o)
{
	struct silt *db = aligned_alloc(64, sizeof *db);

	if (!db)
		abort();
	memset(db, 0, sizeof *db);
	db->options = o;
	db->mem = mem_create();
	db->wal = wal_open(o->wal_size);
	cache_init();
	atomic_fetch_add(&open_handles, 1);
	return db;
}

void silt_close(struct silt *db)
{
	for (unsigned i = 0; i < db->run_count; i++)
		run_put(db->runs[i]);
	free(db->wal->buf);
	free(db->wal);
	atomic_fetch_sub(&open_handles, 1);
	free(db);
}

void silt_put(struct silt *db, unsigned writer, uint32_t key, uint32_t val)
{
	struct record rec = { .key = key, .val = val };

	throttle_writer();
	rec.seq = atomic_fetch_add_explicit(&db->seq, 1, memory_order_relaxed);
	wal_append(db->wal, &db->wal_latch, &rec, sizeof rec);
	lat_put(mem_put(db->mem, writer, key, val));
	tick(TICK_PUT);
}

/* References to all runs, newest first. */
unsigned silt_pin(struct silt *db, struct run **out)
{
	unsigned n;

	latch_lock(&db->manifest_latch);
	n = db->run_count;
	for (unsigned i = 0; i < n; i++) {
		out[i] = db->runs[n - 1 - i];
		run_get(out[i]);
	}
	latch_unlock(&db->manifest_latch);
	return n;
}

int silt_get(struct silt *db, uint32_t key, uint32_t *val)
{
	struct run *runs[SILT_MAX_RUNS];
	unsigned n, steps = 1;
	int at = -1;

	if (mem_get(db->mem, key, val, &steps)) {
		tick(TICK_GET_MEM);
		lat_get(steps);
		return 1;
	}
	n = silt_pin(db, runs);
	for (unsigned i = 0; i < n && at < 0; i++) {
		at = run_find(runs[i], key, &steps);
		if (at >= 0) {
			cache_pin(runs[i]->id, (uint32_t)at / SILT_BLOCK);
			*val = runs[i]->vals[at];
			if (db->options->verify && *val == UINT32_MAX)
				tick(TICK_CORRUPT);
			cache_unpin(runs[i]->id, (uint32_t)at / SILT_BLOCK);
		}
	}
	for (unsigned i = 0; i < n; i++)
		run_put(runs[i]);
	tick(at < 0 ? TICK_GET_MISS : TICK_GET_RUN);
	lat_get(steps);
	return at >= 0;
}

bool silt_add_run(struct silt *db, struct run *r)
{
	bool ok = false;

	latch_lock(&db->manifest_latch);
	if (db->run_count < SILT_MAX_RUNS) {
		r->id = ++db->next_run;
		db->runs[db->run_count++] = r;
		ok = true;
	}
	latch_unlock(&db->manifest_latch);
	return ok;
}

bool silt_replace(struct silt *db, struct run *a, struct run *b, struct run *by)
{
	bool ok = false;

	latch_lock(&db->manifest_latch);
	for (unsigned i = 0; i + 1 < db->run_count && !ok; i++)
		if (db->runs[i] == a && db->runs[i + 1] == b) {
			by->id = ++db->next_run;
			db->runs[i] = by;
			memmove(&db->runs[i + 1], &db->runs[i + 2],
				(db->run_count - i - 2) * sizeof db->runs[0]);
			db->run_count--;
			ok = true;
		}
	latch_unlock(&db->manifest_latch);
	if (ok) {
		run_put(a);
		run_put(b);
	}
	return ok;
}
