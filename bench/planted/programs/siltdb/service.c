#include "silt.h"
#include <time.h>

/* What the compactor does, and how hard it leans on the writers. */
struct pace {
	uint32_t delay;
	uint32_t limit;
	uint32_t moved;
	uint32_t dropped;
	uint32_t rounds;
	uint32_t failed;
};

static struct pace *pace;
static pthread_t flusher, compactor;
static alignas(64) _Atomic bool closing;

/* per service thread, for the report at the end */
struct service {
	const char *name;
	uint32_t laps;
	uint32_t work;
	struct silt *db;
};
static alignas(64) struct service services[2];

void throttle_writer(void)
{
	if (pace->delay > pace->limit) {
		tick(TICK_STALL);
		sched_yield();
	}
}

static int by_key(const void *a, const void *b)
{
	const struct node *const *x = a, *const *y = b;

	return (*x)->key < (*y)->key ? -1 : (*x)->key > (*y)->key;
}

static struct run *flush_memtable(struct memtable *m)
{
	static struct node *list[SILT_HOT_KEYS];
	uint32_t n = 0;
	struct run *r;

	for (unsigned b = 0; b < SILT_BUCKETS; b++)
		for (struct node *p = atomic_load(&m->bucket[b]); p && n < SILT_HOT_KEYS; p = p->next)
			list[n++] = p;
	qsort(list, n, sizeof list[0], by_key);
	r = run_create(n);
	for (uint32_t i = 0; i < n; i++) {
		r->keys[i] = list[i]->key;
		r->vals[i] = atomic_load(&list[i]->val);
	}
	run_seal(r);
	return r;
}

static void nap(long ns)
{
	struct timespec t = { 0, ns };

	nanosleep(&t, NULL);
}

static void *flusher_main(void *arg)
{
	struct service *s = arg;
	struct silt *db = s->db;

	while (!atomic_load_explicit(&closing, memory_order_relaxed)) {
		s->work += wal_sync(db->wal);
		s->work += cache_age();
		tick(TICK_FLUSH);
		if (++s->laps % 128 == 0) {
			struct run *r = flush_memtable(db->mem);

			if (!silt_add_run(db, r))
				run_put(r);
		}
		if (s->laps % 16 == 0)
			nap(20000);
	}
	return NULL;
}

static struct run *merge(const struct run *older, const struct run *newer)
{
	struct run *r = run_create(older->count + newer->count);
	uint32_t i = 0, j = 0, n = 0;

	while (i < older->count || j < newer->count) {
		const struct run *from;
		uint32_t at;

		if (j == newer->count || (i < older->count && older->keys[i] < newer->keys[j])) {
			from = older;
			at = i++;
		} else {
			if (i < older->count && older->keys[i] == newer->keys[j]) {
				pace->dropped++;
				i++;
			}
			from = newer;
			at = j++;
		}
		r->keys[n] = from->keys[at];
		r->vals[n++] = from->vals[at];
	}
	r->count = n;
	run_seal(r);
	return r;
}

static void *compactor_main(void *arg)
{
	struct service *s = arg;
	struct silt *db = s->db;
	struct run *runs[SILT_MAX_RUNS];

	while (!atomic_load_explicit(&closing, memory_order_relaxed)) {
		unsigned n = silt_pin(db, runs);

		pace->rounds++;
		for (unsigned i = 0; i < n; i++)
			pace->moved += runs[i]->count >> 8;
		s->laps++;
		s->work += n;
		if (n > db->options->compact_at) {
			struct run *by = merge(runs[n - 1], runs[n - 2]);

			if (!silt_replace(db, runs[n - 1], runs[n - 2], by)) {
				pace->failed++;
				run_put(by);
			}
		}
		for (unsigned i = 0; i < n; i++)
			run_put(runs[i]);
		tick(TICK_COMPACT);
		if (s->laps % 8 == 0)
			nap(20000);
	}
	return NULL;
}

int services_start(struct silt *db)
{
	pace = aligned_alloc(64, 64);
	memset(pace, 0, sizeof *pace);
	pace->limit = 4;
	services[0] = (struct service){ .name = "flusher", .db = db };
	services[1] = (struct service){ .name = "compactor", .db = db };
	if (pthread_create(&flusher, NULL, flusher_main, &services[0]))
		return -1;
	return pthread_create(&compactor, NULL, compactor_main, &services[1]);
}

void services_stop(void)
{
	atomic_store(&closing, true);
	pthread_join(flusher, NULL);
	pthread_join(compactor, NULL);
}

void services_report(FILE *f)
{
	for (int i = 0; i < 2; i++)
		fprintf(f, "%s %s\n", services[i].name, services[i].laps ? "ran" : "idle");
}
