#include "silt.h"

/* What one client thread does; its cursor is made when the client is set up. */
struct client {
	struct silt *db;
	struct cursor *cur;
	unsigned index;
	unsigned ops;
	pthread_t thread;
};

static struct {
	alignas(64) uint64_t found;
	uint64_t ops;
	uint64_t sum;
} summary[SILT_READERS + SILT_WRITERS];

static pthread_barrier_t gate;
static _Thread_local uint32_t step_count;

static uint32_t cursor_next(struct cursor *c)
{
	uint32_t x = c->state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	step_count++;
	return c->state = x;
}

static void *writer_main(void *arg)
{
	struct client *cl = arg;
	struct cursor *c = cl->cur;

	pthread_barrier_wait(&gate);
	for (unsigned i = 0; i < cl->ops; i++) {
		uint32_t r = cursor_next(c);

		silt_put(cl->db, cl->index, r % SILT_HOT_KEYS, r >> 9);
		c->ops++;
	}
	summary[cl->index].ops = c->ops;
	return NULL;
}

static void *reader_main(void *arg)
{
	struct client *cl = arg;
	struct cursor *c = cl->cur;
	uint32_t val = 0;

	pthread_barrier_wait(&gate);
	for (unsigned i = 0; i < cl->ops; i++) {
		uint32_t r = cursor_next(c);

		c->ops++;
		if (silt_get(cl->db, r % SILT_ALL_KEYS, &val)) {
			c->found++;
			c->sum += val;
		}
	}
	summary[cl->index].found = c->found;
	summary[cl->index].ops = c->ops;
	return NULL;
}

static void *loader_main(void *arg)
{
	struct client *cl = arg;
	struct run *r = run_create((SILT_ALL_KEYS - SILT_HOT_KEYS) / 2);

	for (uint32_t i = 0; i < r->count; i++) {
		r->keys[i] = SILT_HOT_KEYS + i * 2 + cl->index;
		r->vals[i] = r->keys[i] * 3;
		cl->cur->ops++;
	}
	run_seal(r);
	if (!silt_add_run(cl->db, r))
		run_put(r);
	return NULL;
}

static struct cursor *cursor_new(unsigned index)
{
	struct cursor *c = calloc(1, sizeof *c);

	if (!c)
		abort();
	c->state = 2463534242u + index * 7919u;
	return c;
}

static struct client *client_new(struct silt *db, unsigned index, unsigned ops, struct cursor *cur)
{
	struct client *cl = aligned_alloc(64, 64);

	if (!cl)
		abort();
	memset(cl, 0, sizeof *cl);
	cl->db = db;
	cl->index = index;
	cl->ops = ops;
	cl->cur = cur;
	return cl;
}

int workload_run(struct silt *db, unsigned ops, FILE *f)
{
	struct client *cl[SILT_READERS + SILT_WRITERS];
	struct cursor *cur[SILT_READERS + SILT_WRITERS];
	unsigned n = SILT_READERS + SILT_WRITERS;
	uint64_t total = 0;

	/* the base data, one loader after the other */
	for (unsigned i = 0; i < 2; i++) {
		struct client *l = client_new(db, i, 0, cursor_new(i));

		if (pthread_create(&l->thread, NULL, loader_main, l))
			return -1;
		pthread_join(l->thread, NULL);
		free(l->cur);
		free(l);
	}
	pthread_barrier_init(&gate, NULL, n);
	for (unsigned i = 0; i < n; i++)
		cur[i] = cursor_new(i);
	for (unsigned i = 0; i < n; i++)
		cl[i] = client_new(db, i, ops, cur[i]);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&cl[i]->thread, NULL, i < SILT_WRITERS ? writer_main : reader_main, cl[i]))
			return -1;
	for (unsigned i = 0; i < n; i++) {
		pthread_join(cl[i]->thread, NULL);
		total += summary[i].ops;
		if (i >= SILT_WRITERS)
			fprintf(f, "reader %u: %s\n", i - SILT_WRITERS, summary[i].found ? "found" : "nothing");
		free(cl[i]->cur);
		free(cl[i]);
	}
	return total == (uint64_t)ops * n ? 0 : -1;
}
