/* gridphys ROUNDS [NAME=VALUE]... */
#include "phys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	mtx_t lock;
	int started;
	int finished;
} roll;

static struct sim sim;

static void roll_change(int *which)
{
	mtx_lock(&roll.lock);
	++*which;
	mtx_unlock(&roll.lock);
}

static int worker_main(void *arg)
{
	struct worker *w = arg;
	struct sim *s = w->sim;
	struct pool *p = &s->pool;

	worker_id = w->id;
	roll_change(&roll.started);
	pool_meet(p);
	for (long step = 0; step < s->rounds; step++) {
		pool_fill(p, w->id, force_task, PARTICLES, TASK_PARTICLES);
		pool_meet(p);
		pool_work(p, w);
		pool_meet(p);
		pool_fill(p, w->id, move_task, PARTICLES, TASK_PARTICLES);
		pool_meet(p);
		pool_work(p, w);
		pool_meet(p);
		pool_fill(p, w->id, cell_task, CELLS, 2);
		pool_meet(p);
		pool_work(p, w);
		pool_meet(p);
		if (w->id == 0) {
			double e = 0;
			for (int i = 0; i < WORKERS; i++)
				e += partial_energy[i];
			s->energy = e;
		}
	}
	roll_change(&roll.finished);
	return 0;
}

static int start(thrd_t *t, thrd_start_t fn, void *arg, const char *name)
{
	if (thrd_create(t, fn, arg) == thrd_success)
		return 0;
	fprintf(stderr, "cannot start the %s\n", name);
	return -1;
}

static int run(struct sim *s)
{
	thrd_t threads[WORKERS + 2];
	int n = 0;

	for (int i = 0; i < WORKERS; i++)
		if (start(&threads[n++], worker_main, &s->pool.workers[i], "worker") < 0)
			exit(1);	/* the others wait for it for ever */
	if (start(&threads[n++], observer_main, s, "observer") < 0 || start(&threads[n++], tuner_main, s, "tuner") < 0)
		exit(1);
	for (int i = 0; i < n; i++) {
		int rc = 0;
		thrd_join(threads[i], &rc);
		if (rc)
			note(0, "thread %d ended with %d", i, rc);
	}
	return 0;
}

static void report(const struct sim *s)
{
	for (int i = 0; i < WORKERS; i++)
		printf("worker %d: %llu tasks, %u stolen, energy %.6f, kinetic %.6f, drift %.6f, drawn %u\n", i,
		       (unsigned long long)s->pool.workers[i].tasks, s->pool.workers[i].steals, partial_energy[i],
		       accumulators[i].kinetic, accumulators[i].drift, s->grid.rngs[i]->drawn);
	printf("%d started, %d finished, phase %d, energy %.6f, checksum %.3f, pairs %lu, contacts %lu, ticks %lu, samples %llu, sum %.1f, lost %lu/%lu\n",
	       roll.started, roll.finished, s->pool.phase, s->energy, grid_checksum(&s->grid), atomic_load(&params.pairs),
	       contacts_total(), atomic_load(&tuner_ticks), (unsigned long long)s->observer.samples, s->observer.sum, nan_count,
	       escape_count);
}

int main(int argc, char **argv)
{
	if (params_read(argc, argv, &sim.rounds) < 0)
		return 2;
	if (mtx_init(&roll.lock, mtx_plain) != thrd_success || mtx_init(&sim.history.lock, mtx_plain) != thrd_success ||
	    grid_init(&sim.grid) < 0 || pool_init(&sim.pool, &sim) < 0) {
		fprintf(stderr, "cannot start\n");
		return 1;
	}
	int rc = run(&sim);
	report(&sim);
	pool_destroy(&sim.pool);
	grid_destroy(&sim.grid);
	mtx_destroy(&sim.history.lock);
	notes_print();
	return rc;
}
