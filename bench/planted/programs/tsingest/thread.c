/* The thread wrapper: names, start gate, joins. */
#include "common.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread const char *current_name = "main";
static __thread unsigned long current_waits;

static pthread_mutex_t roster_lock = PTHREAD_MUTEX_INITIALIZER;
static int roster_alive;
static int roster_started;

struct start_record {
	struct task *task;
};

static void roster_change(int delta)
{
	pthread_mutex_lock(&roster_lock);
	roster_alive += delta;
	if (delta > 0)
		roster_started++;
	pthread_mutex_unlock(&roster_lock);
}

static void *task_main(void *arg)
{
	struct start_record *rec = arg;
	struct task *t = rec->task;

	free(rec);
	current_name = t->name;
	roster_change(+1);
	t->fn(t->self, t->index);
	roster_change(-1);
	return NULL;
}

int task_start(struct task *t, const char *name, task_fn fn, void *self, int index)
{
	struct start_record *rec = malloc(sizeof *rec);

	if (!rec)
		return -1;
	t->name = name;
	t->fn = fn;
	t->self = self;
	t->index = index;
	rec->task = t;
	int err = pthread_create(&t->handle, NULL, task_main, rec);
	if (err) {
		fprintf(stderr, "cannot start %s: %s\n", name, strerror(err));
		free(rec);
		return -1;
	}
	t->started = true;
	return 0;
}

void task_join(struct task *t)
{
	if (!t->started)
		return;
	pthread_join(t->handle, NULL);
	t->started = false;
}

const char *task_name(void)
{
	return current_name;
}

void gate_init(struct gate *g, int wanted)
{
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->cond, NULL);
	g->waiting = 0;
	g->wanted = wanted;
	g->generation = 0;
}

/* Wait until all have come; may be used again and again. */
void gate_wait(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	unsigned mine = g->generation;

	if (++g->waiting == g->wanted) {
		g->waiting = 0;
		g->generation++;
		pthread_cond_broadcast(&g->cond);
	} else {
		while (mine == g->generation) {
			current_waits++;
			pthread_cond_wait(&g->cond, &g->lock);
		}
	}
	pthread_mutex_unlock(&g->lock);
}

void gate_destroy(struct gate *g)
{
	pthread_cond_destroy(&g->cond);
	pthread_mutex_destroy(&g->lock);
}
