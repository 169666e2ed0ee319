/* deliver.c - runners take from the spool and write mailboxes */
#include "postrun.h"

static pthread_mutex_t mbox_lock[NMBOX];
static struct mbox mboxes[NMBOX];
static uint32_t relay_bytes[MAXRUN];
static int inited;

struct runner *
runner_new(int id)
{
	struct runner *r = xmalloc(sizeof(*r));
	int i;

	if (!inited) {
		inited = 1;
		for (i = 0; i < NMBOX; i++)
			pthread_mutex_init(&mbox_lock[i], NULL);
	}
	r->r_id = id;
	r->r_batch = 8;
	return (r);
}

static void
deliver_local(struct msg *m)
{
	struct mbox *mb = &mboxes[m->m_mbox];

	pthread_mutex_lock(&mbox_lock[m->m_mbox]);
	mb->mb_count++;
	mb->mb_bytes += m->m_size;
	mb->mb_uid = m->m_qid;
	mb->mb_sum ^= m->m_sum;
	pthread_mutex_unlock(&mbox_lock[m->m_mbox]);
}

static void
deliver_relay(struct runner *r, struct msg *m)
{
	uint32_t i, v = m->m_sum;

	for (i = 0; i < m->m_size; i++)
		v = v * 69069 + i;
	relay_bytes[r->r_id] += m->m_size + (v & 1);
}

static void
deliver(struct runner *r, struct msg *m)
{
	struct domain *d = m->m_dom;

	if (d->d_relay && (m->m_sum & 3) == 0)
		deliver_relay(r, m);
	else
		deliver_local(m);
	r->r_done++;
	r->r_bytes += m->m_size;
	if (m->m_tries > 5)
		logit("giving up %u for %s", m->m_qid, d->d_name);
}

void *
runner_main(void *arg)
{
	struct runner *r = arg;
	struct msg *m;
	int slot = MAXSESS + r->r_id;

	snprintf(hello[slot], sizeof(hello[slot]), "run%d", r->r_id);
	pthread_barrier_wait(&startgate);
	for (;;) {
		padstat[slot].ps_loops++;
		if ((m = spool_get()) == NULL) {
			if (__atomic_load_n(&sessions_left, __ATOMIC_ACQUIRE) == 0 &&
			    (m = spool_get()) == NULL)
				break;
			if (m == NULL) {
				padstat[slot].ps_idle++;
				NAP();
				continue;
			}
		}
		deliver(r, m);
		__atomic_add_fetch(&delivered_total, 1, __ATOMIC_RELAXED);
		DPRINTF(D_QUEUE, "%u delivered", m->m_qid);
		msg_free(m);
	}
	return (NULL);
}

void
mbox_report(FILE *fp)
{
	uint32_t n = 0, b = 0;
	int i;

	for (i = 0; i < NMBOX; i++) {
		pthread_mutex_lock(&mbox_lock[i]);
		n += mboxes[i].mb_count;
		b += mboxes[i].mb_bytes;
		pthread_mutex_unlock(&mbox_lock[i]);
	}
	fprintf(fp, "mailboxes: %u messages, %u bytes\n", n, b);
}
