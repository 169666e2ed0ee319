#include <stdio.h>
#include <stdlib.h>
#include "namec.h"

#define UP_DEPTH	8

struct request {
	struct list_head	node;
	struct query		*q;
};

struct upstream {
	u32		id;
	u32		served;
	u64		rtt_sum;
	u32		rng;
	u32		failures;
	struct upstream_pool *pool;
};

struct upstream_pool {
	pthread_mutex_t		lock;
	pthread_cond_t		work;
	struct list_head	todo;
	bool			stop;
	struct cache		*cache;
	struct upstream		*ups;
	pthread_t		threads[NR_UPSTREAMS];
	sem_t			reply[NR_CLIENTS_MAX] __aligned_line;
	struct request		req[NR_CLIENTS_MAX] __aligned_line;
};

static void list_init(struct list_head *h)
{
	h->next = h->prev = h;
}

static void list_add_tail(struct list_head *n, struct list_head *h)
{
	n->prev = h->prev;
	n->next = h;
	h->prev->next = n;
	h->prev = n;
}

static struct list_head *list_pop(struct list_head *h)
{
	struct list_head *n = h->next;

	if (n == h)
		return NULL;
	h->next = n->next;
	n->next->prev = h;
	return n;
}

static u32 upstream_ask(struct upstream *u, struct query *q)
{
	u32 rtt, x = q->hash;

	for (u32 i = 0; i < 8; i++)
		x = (x << 5) - x + (u8)q->name[i];
	u->rng = u->rng * 69069u + 1;
	rtt = u->id ? 200 + ((u->rng >> 16) & 511) : 2 + ((u->rng >> 16) & 15);
	q->addr = x | 0x0a000000u;
	q->rcode = RC_OK;
	u->served++;
	u->rtt_sum += rtt;
	if (!q->len)
		u->failures++;
	return rtt;
}

static void *upstream_thread(void *arg)
{
	struct upstream *u = arg;
	struct upstream_pool *p = u->pool;

	for (;;) {
		struct list_head *n;
		struct query *q;
		u32 rtt;

		pthread_mutex_lock(&p->lock);
		while (!(n = list_pop(&p->todo)) && !p->stop)
			pthread_cond_wait(&p->work, &p->lock);
		pthread_mutex_unlock(&p->lock);
		if (!n)
			break;
		q = container_of(n, struct request, node)->q;
		rtt = upstream_ask(u, q);
		journal_answer(q->hash, rtt);
		cache_insert(p->cache, q, 3 + (rtt & 3));
		sem_post(&p->reply[q->client]);
	}
	return NULL;
}

struct upstream_pool *upstream_start(struct cache *c)
{
	struct upstream_pool *p = aligned_alloc(64, sizeof(*p));
	u32 i;

	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	list_init(&p->todo);
	p->stop = false;
	p->cache = c;
	p->ups = calloc(NR_UPSTREAMS, sizeof(*p->ups));
	if (!p->ups)
		return NULL;
	for (i = 0; i < NR_CLIENTS_MAX; i++)
		sem_init(&p->reply[i], 0, 0);
	for (i = 0; i < NR_UPSTREAMS; i++) {
		p->ups[i].id = i;
		p->ups[i].rng = 11 + i;
		p->ups[i].pool = p;
		if (pthread_create(&p->threads[i], NULL, upstream_thread, &p->ups[i]))
			return NULL;
	}
	return p;
}

void upstream_resolve(struct upstream_pool *p, struct query *q)
{
	struct request *r = &p->req[q->client];

	r->q = q;
	pthread_mutex_lock(&p->lock);
	list_add_tail(&r->node, &p->todo);
	pthread_cond_signal(&p->work);
	pthread_mutex_unlock(&p->lock);
	while (sem_wait(&p->reply[q->client]))
		;
}

void upstream_stop(struct upstream_pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
	for (u32 i = 0; i < NR_UPSTREAMS; i++)
		pthread_join(p->threads[i], NULL);
}

void upstream_print(const struct upstream_pool *p)
{
	for (u32 i = 0; i < NR_UPSTREAMS; i++)
		printf("upstream %u: %s, %u failures\n", p->ups[i].id,
		       p->ups[i].served ? "used" : "unused", p->ups[i].failures);
}
