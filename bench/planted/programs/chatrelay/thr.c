/* Threads with a name, a slot and a result. */
#include "relay.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__thread int thr_slot = -1;

struct boot {
	thr_t *thr;
	int slot;
};

static struct {
	pthread_mutex_t mu;
	unsigned up;
	unsigned most;
} census = { .mu = PTHREAD_MUTEX_INITIALIZER };

static void *thr_entry(void *p)
{
	struct boot *b = p;
	thr_t *t = b->thr;

	thr_slot = b->slot;
	free(b);
	pthread_mutex_lock(&census.mu);
	if (++census.up > census.most)
		census.most = census.up;
	pthread_mutex_unlock(&census.mu);
	t->rc = t->main(t->arg);
	pthread_mutex_lock(&census.mu);
	census.up--;
	pthread_mutex_unlock(&census.mu);
	return t;
}

int thr_spawn(thr_t *t, const char *name, int slot, int (*fn)(void *), void *arg)
{
	struct boot *b = malloc(sizeof *b);

	if (!b)
		return -1;
	memset(t, 0, sizeof *t);
	snprintf(t->name, sizeof t->name, "%s", name);
	t->main = fn;
	t->arg = arg;
	b->thr = t;
	b->slot = slot;
	if (pthread_create(&t->id, NULL, thr_entry, b)) {
		log_line(L_ERR, "no thread for %s", name);
		free(b);
		return -1;
	}
	t->up = true;
	return 0;
}

int thr_wait(thr_t *t)
{
	if (!t->up)
		return 0;
	pthread_join(t->id, NULL);
	t->up = false;
	if (t->rc)
		log_line(L_WARN, "%s ended with %d", t->name, t->rc);
	return t->rc;
}

void startline_init(startline_t *s, int n)
{
	pthread_mutex_init(&s->mu, NULL);
	pthread_cond_init(&s->cv, NULL);
	s->missing = n;
}

void startline_cross(startline_t *s)
{
	pthread_mutex_lock(&s->mu);
	if (--s->missing == 0)
		pthread_cond_broadcast(&s->cv);
	while (s->missing > 0)
		pthread_cond_wait(&s->cv, &s->mu);
	pthread_mutex_unlock(&s->mu);
}

void thr_relax(unsigned *turns)
{
	++*turns;
	sched_yield();
}
