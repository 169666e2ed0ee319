#include "gate.h"

/* Requests are made once and go round: poller -> worker -> free list. */
static struct {
	alignas(64) pthread_mutex_t lock;
	struct request *free;
	unsigned made;
	unsigned out;
} pool;

static alignas(64) unsigned pool_exhausted;

static struct request *request_new(void)
{
	struct request *rq = malloc(sizeof *rq);

	if (!rq)
		abort();
	memset(rq, 0, sizeof *rq);
	return rq;
}

void request_pool_init(unsigned count)
{
	unsigned char *bodies = aligned_alloc(64, (size_t)count * 64);

	pthread_mutex_init(&pool.lock, NULL);
	for (unsigned i = 0; i < count; i++) {
		struct request *rq = request_new();

		rq->body = bodies + (size_t)i * 64;
		rq->next = pool.free;
		pool.free = rq;
		pool.made++;
	}
}

struct request *request_get(void)
{
	struct request *rq;

	pthread_mutex_lock(&pool.lock);
	rq = pool.free;
	if (rq) {
		pool.free = rq->next;
		pool.out++;
	}
	pthread_mutex_unlock(&pool.lock);
	if (!rq)
		pool_exhausted++;
	return rq;
}

void request_put(struct request *rq)
{
	pthread_mutex_lock(&pool.lock);
	rq->next = pool.free;
	pool.free = rq;
	pool.out--;
	pthread_mutex_unlock(&pool.lock);
}
