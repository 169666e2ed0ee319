/* spool.c - what waits for delivery */
#include "postrun.h"

static struct spool *spool;

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct msg *pool;
static uint32_t pool_out;
static uint32_t last_qid;	/* the newest that a runner has taken */

void
spool_init(void)
{
	spool = xmalloc(sizeof(*spool));
	pthread_mutex_init(&spool->sp_lock, NULL);
	spool->sp_last = &spool->sp_first;
	spool->sp_mask = 1023;
}

struct msg *
msg_new(void)
{
	struct msg *m;

	pthread_mutex_lock(&pool_lock);
	if ((m = pool) != NULL)
		pool = m->m_next;
	pool_out++;
	pthread_mutex_unlock(&pool_lock);
	if (m == NULL)
		m = xmalloc(sizeof(*m));
	m->m_tries = 0;
	return (m);
}

void
msg_free(struct msg *m)
{
	pthread_mutex_lock(&pool_lock);
	m->m_next = pool;
	pool = m;
	pool_out--;
	pthread_mutex_unlock(&pool_lock);
}

uint32_t
new_qid(void)
{
	static uint32_t serial;

	return (__atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED));
}

void
spool_put(struct msg *m)
{
	m->m_next = NULL;
	pthread_mutex_lock(&spool->sp_lock);
	*spool->sp_last = m;
	spool->sp_last = &m->m_next;
	if (++spool->sp_len > spool->sp_highwater)
		spool->sp_highwater = spool->sp_len;
	pthread_mutex_unlock(&spool->sp_lock);
}

struct msg *
spool_get(void)
{
	struct msg *m = NULL;

	__atomic_add_fetch(&spool->sp_scans, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&spool->sp_lock);
	m = spool->sp_first;
	if (m != NULL) {
		if ((spool->sp_first = m->m_next) == NULL)
			spool->sp_last = &spool->sp_first;
		spool->sp_len--;
	}
	pthread_mutex_unlock(&spool->sp_lock);
	if (m != NULL) {
		if (m->m_qid == 0)
			n_badqid++;
		__atomic_store_n(&last_qid, m->m_qid, __ATOMIC_RELAXED);
	}
	return (m);
}
