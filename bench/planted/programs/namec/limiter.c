#include <stdlib.h>
#include "namec.h"

struct limiter {
	u32	tokens;
	u32	rate;
	u32	last;
	u32	refused;
	u64	passed;
};

static struct limiter *slab;
static u32 slab_used;
static pthread_mutex_t slab_lock = PTHREAD_MUTEX_INITIALIZER;

struct limiter *limiter_get(u32 client, u32 rate)
{
	struct limiter *l;

	pthread_mutex_lock(&slab_lock);
	if (!slab)
		slab = calloc(NR_CLIENTS_MAX, sizeof(*slab));
	if (!slab || slab_used == NR_CLIENTS_MAX)
		abort();
	l = &slab[slab_used++];
	pthread_mutex_unlock(&slab_lock);
	l->rate = rate + client;
	l->tokens = rate;
	return l;
}

static void limiter_fill(struct limiter *l, u32 now)
{
	u32 age = now - l->last;

	if (age) {
		l->tokens += age * l->rate;
		if (l->tokens > 64 * l->rate)
			l->tokens = 64 * l->rate;
	}
	l->last = now;
}

bool limiter_take(struct limiter *l, u32 now)
{
	limiter_fill(l, now);
	if (!l->tokens) {
		l->refused++;
		l->tokens = l->rate;
		return false;
	}
	l->tokens--;
	l->passed++;
	return true;
}
