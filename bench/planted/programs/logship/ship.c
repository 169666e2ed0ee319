#include "ls.h"

struct conn *g_conn;
struct queue g_queue __attribute__((aligned(LINE)));
struct metric *m_shipped, *m_acked;
long g_acks __attribute__((aligned(LINE)));

/* progress of the two sides of the connection */
static unsigned long batches_out;
static unsigned long acks_seen;

/* retry bookkeeping; only after errors */
static struct {
	unsigned long retries;
	unsigned long timeouts;
} trouble __attribute__((aligned(LINE)));

/* the window: the acker opens it, the shipper asks for its limits */
static struct {
	uint32_t max_batch;
	uint32_t flush_level;
	atomic_uint opened;
	uint32_t spare;
} window __attribute__((aligned(LINE))) = { .max_batch = 24, .flush_level = 3 };

void queue_init(struct queue *q, int writers)
{
	pthread_mutex_init(&q->mu, NULL);
	pthread_cond_init(&q->more, NULL);
	pthread_cond_init(&q->room, NULL);
	q->writers = writers;
}

void queue_put(struct queue *q, const struct line *l)
{
	pthread_mutex_lock(&q->mu);
	while (q->in - q->out == QCAP)
		pthread_cond_wait(&q->room, &q->mu);
	q->item[q->in++ % QCAP] = *l;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->mu);
}

bool queue_get(struct queue *q, struct line *l)
{
	bool ok = false;
	pthread_mutex_lock(&q->mu);
	while (q->in == q->out && q->writers > 0)
		pthread_cond_wait(&q->more, &q->mu);
	if (q->in != q->out) {
		*l = q->item[q->out++ % QCAP];
		pthread_cond_signal(&q->room);
		ok = true;
	}
	pthread_mutex_unlock(&q->mu);
	return ok;
}

void queue_done(struct queue *q)
{
	pthread_mutex_lock(&q->mu);
	q->writers--;
	pthread_cond_broadcast(&q->more);
	pthread_mutex_unlock(&q->mu);
}

static int ship(struct conn *c, const struct line *l)
{
	size_t n = strnlen(l->text, sizeof l->text);
	if (c->fd < 0) {
		trouble.retries++;
		return -1;
	}
	if (n > window.max_batch)
		n = window.max_batch;
	memcpy(c->batch, l->text, n);
	c->sent += n;
	if (l->level > window.flush_level)
		c->window = 0;
	return 0;
}

void *shipper_main(void *arg)
{
	struct queue *q = arg;
	struct line l;
	while (queue_get(q, &l)) {
		if (ship(g_conn, &l) < 0)
			break;
		metric_add(m_shipped, 1);
		__atomic_store_n(&batches_out, batches_out + 1, __ATOMIC_RELAXED);
		g_alive[NTAIL] ^= 1;
	}
	return NULL;
}

static uint32_t ack_token(uint32_t n)
{
	for (int i = 0; i < 12; i++)
		n = n * 1103515245u + (n >> 7);
	return n;
}

void *acker_main(void *arg)
{
	struct conn *c = arg;
	for (long i = 0; i < g_acks; i++) {
		uint32_t t = ack_token((uint32_t)i);
		c->acked++;
		__atomic_store_n(&c->ack_sum, c->ack_sum ^ t, __ATOMIC_RELAXED);
		atomic_fetch_add(&window.opened, t & 3);
		metric_add(m_acked, 1);
		__atomic_store_n(&acks_seen, acks_seen + 1, __ATOMIC_RELAXED);
		g_alive[NTAIL + 1] ^= 1;
		control_poll();
		if (c->resets)
			trouble.timeouts++;
	}
	return NULL;
}
