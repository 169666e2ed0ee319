/* conn.c - the listener; peers are made up, there is no network here */
#include "postrun.h"

uint32_t rounds = 1000;

static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
static struct conn *free_conns;
static uint32_t nfree;

static struct conn *
conn_alloc(void)
{
	struct conn *c;

	pthread_mutex_lock(&free_lock);
	c = free_conns;
	if (c != NULL) {
		free_conns = c->c_next;
		nfree--;
	}
	pthread_mutex_unlock(&free_lock);
	if (c == NULL)
		c = xmalloc(sizeof(*c));
	return (c);
}

void
conn_free(struct conn *c)
{
	pthread_mutex_lock(&free_lock);
	c->c_next = free_conns;
	free_conns = c;
	nfree++;
	pthread_mutex_unlock(&free_lock);
}

static int
conq_put(struct conq *q, struct conn *c)
{
	uint32_t h = __atomic_load_n(&q->q_head, __ATOMIC_RELAXED);

	if (h - __atomic_load_n(&q->q_tail, __ATOMIC_ACQUIRE) == CONQ_SIZE)
		return (0);
	q->q_slot[h % CONQ_SIZE] = c;
	__atomic_store_n(&q->q_head, h + 1, __ATOMIC_RELEASE);
	return (1);
}

struct conn *
conq_get(struct conq *q)
{
	uint32_t t = __atomic_load_n(&q->q_tail, __ATOMIC_RELAXED);
	struct conn *c;

	if (__atomic_load_n(&q->q_head, __ATOMIC_ACQUIRE) == t)
		return (NULL);
	c = q->q_slot[t % CONQ_SIZE];
	__atomic_store_n(&q->q_tail, t + 1, __ATOMIC_RELEASE);
	return (c);
}

/* pick the first idle session, else the one whose turn it is */
static int
pick_session(uint32_t n)
{
	int i;

	for (i = 0; i < MAXSESS; i++)
		if (!__atomic_load_n(&sess_busy[(n + i) % MAXSESS], __ATOMIC_RELAXED))
			return ((n + i) % MAXSESS);
	return (n % MAXSESS);
}

void *
listener(void *arg)
{
	uint32_t n, seed = 12345;
	struct conn *c;
	int s;

	(void)arg;
	pthread_barrier_wait(&startgate);
	for (n = 0; n < rounds; n++) {
		seed = seed * 1103515245u + 12345u;
		c = conn_alloc();
		c->c_peer = seed >> 20;
		c->c_nmsg = 1 + (seed >> 9) % 3;
		c->c_flags = (uint16_t)(seed >> 3);
		s = pick_session(n);
		while (!conq_put(&conq[s], c)) {
			NAP();
			s = (s + 1) % MAXSESS;
		}
		__atomic_store_n(&conns_total, conns_total + 1, __ATOMIC_RELAXED);
		DPRINTF(D_CONN, "connect %08x to %d", c->c_peer, s);
	}
	__atomic_store_n(&listener_done, 1, __ATOMIC_RELEASE);
	return (NULL);
}
