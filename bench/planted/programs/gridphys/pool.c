/* The pool: each worker fills its own deque, works it off, then steals; all meet between phases. */
#include "phys.h"

#include <stdlib.h>

#define DEQUE_TASKS 32

_Thread_local int worker_id = -1;

int pool_init(struct pool *p, struct sim *s)
{
	p->deques = aligned_alloc(LINE, (WORKERS * sizeof *p->deques + LINE - 1) / LINE * LINE);
	p->workers = aligned_alloc(LINE, (WORKERS * sizeof *p->workers + LINE - 1) / LINE * LINE);
	if (!p->deques || !p->workers)
		return -1;
	for (int i = 0; i < WORKERS; i++) {
		struct deque *d = &p->deques[i];

		if (mtx_init(&d->lock, mtx_plain) != thrd_success)
			return -1;
		d->top = d->bottom = 0;
		d->tasks = aligned_alloc(LINE, DEQUE_TASKS * sizeof *d->tasks);
		if (!d->tasks)
			return -1;
		p->workers[i] = (struct worker){ .sim = s, .id = i };
	}
	p->phase = 0;
	atomic_init(&p->pending, 0);
	atomic_init(&p->idle_turns, 0);
	p->meeting.here = 0;
	p->meeting.wanted = WORKERS;
	p->meeting.turn = 0;
	if (mtx_init(&p->meeting.lock, mtx_plain) != thrd_success || cnd_init(&p->meeting.all_here) != thrd_success)
		return -1;
	return 0;
}

/* Each worker enters every third block of the items. */
void pool_fill(struct pool *p, int id, void (*run)(struct sim *, int, int), int items, int per_task)
{
	struct deque *d = &p->deques[id];
	int n = 0;

	mtx_lock(&d->lock);
	d->top = d->bottom = 0;
	for (int first = id * per_task; first < items; first += WORKERS * per_task) {
		if (d->bottom == DEQUE_TASKS) {
			note(0, "too many tasks for worker %d", id);
			break;
		}
		d->tasks[d->bottom].run = run;
		d->tasks[d->bottom].first = first;
		d->tasks[d->bottom].last = first + per_task < items ? first + per_task : items;
		d->bottom++;
		n++;
	}
	mtx_unlock(&d->lock);
	atomic_fetch_add_explicit(&p->pending, n, memory_order_relaxed);
}

static bool take_own(struct deque *d, struct task *t)
{
	bool got = false;

	mtx_lock(&d->lock);
	if (d->bottom > d->top) {
		*t = d->tasks[--d->bottom];
		got = true;
	}
	mtx_unlock(&d->lock);
	return got;
}

static bool steal(struct deque *d, struct task *t)
{
	bool got = false;

	if (mtx_trylock(&d->lock) != thrd_success)
		return false;
	if (d->bottom - d->top > 1) {
		*t = d->tasks[d->top++];
		got = true;
	}
	mtx_unlock(&d->lock);
	return got;
}

void pool_work(struct pool *p, struct worker *w)
{
	struct task t;

	for (;;) {
		if (take_own(&p->deques[w->id], &t)) {
			t.run(w->sim, t.first, t.last);
			w->tasks++;
			atomic_fetch_sub_explicit(&p->pending, 1, memory_order_release);
			continue;
		}
		if (atomic_load_explicit(&p->pending, memory_order_acquire) <= 0)
			return;
		bool got = false;
		for (int k = 1; k < WORKERS && !got; k++)
			got = steal(&p->deques[(w->id + k) % WORKERS], &t);
		if (!got)
			return;		/* what is left is being worked on */
		t.run(w->sim, t.first, t.last);
		w->steals++;
		w->tasks++;
		atomic_fetch_sub_explicit(&p->pending, 1, memory_order_release);
	}
}

/* All workers wait here until the last has come; it closes the phase. */
void pool_meet(struct pool *p)
{
	struct meeting *m = &p->meeting;

	mtx_lock(&m->lock);
	unsigned turn = m->turn;
	if (++m->here == m->wanted) {
		m->here = 0;
		m->turn++;
		p->phase++;
		cnd_broadcast(&m->all_here);
	} else {
		while (turn == m->turn)
			cnd_wait(&m->all_here, &m->lock);
	}
	mtx_unlock(&m->lock);
}

void pool_destroy(struct pool *p)
{
	for (int i = 0; i < WORKERS; i++) {
		mtx_destroy(&p->deques[i].lock);
		free(p->deques[i].tasks);
	}
	cnd_destroy(&p->meeting.all_here);
	mtx_destroy(&p->meeting.lock);
	free(p->deques);
	free(p->workers);
}
