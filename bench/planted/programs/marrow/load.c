/* the workload: private tables, mail between threads, a shared index */
#include "rt.h"

#include <sched.h>

#define OWN_SLOTS	64
#define NBUCKETS	64
#define NSTRIPES	8
#define MAIL_SLOTS	6

typedef struct msg { struct msg *m_link; uint32_t m_from, m_value; } msg;

/* one direction between two threads */
struct lane { uint32_t ln_head, ln_tail; msg *ln_slot[MAIL_SLOTS]; };

struct node {
	struct node	*n_next;
	uint32_t	n_key;
	uint32_t	n_value;
	_Atomic uint32_t n_hits;
	uint32_t	n_born;
};

struct stripe { rt_lock_t s_lock; uint32_t s_nodes; uint32_t s_moves; };

struct mutator {
	uint32_t	mu_id;
	uint32_t	mu_seed;
	uint64_t	mu_sum;
	uint32_t	mu_done;
	uint32_t	mu_full;
	uint32_t	mu_shed;
	void		**mu_own;
};

typedef int (*op_fn)(struct mutator *m, uint32_t r);
struct op { const char *o_name; op_fn o_fn; uint32_t o_weight; };

static struct node *index_tab[NBUCKETS];
static struct stripe stripes[NSTRIPES];
static struct lane lanes[RT_MAX_THREADS][RT_MAX_THREADS];
static struct mutator *mutators[RT_MAX_THREADS];
static uint32_t mail_received[RT_MAX_THREADS];
static _Atomic uint32_t index_size;
static uint32_t index_limit = 96;
static _Atomic uint32_t failures;

static uint32_t rnd(struct mutator *m)
{
	m->mu_seed ^= m->mu_seed << 13;
	m->mu_seed ^= m->mu_seed >> 17;
	m->mu_seed ^= m->mu_seed << 5;
	return m->mu_seed;
}

static int op_own(struct mutator *m, uint32_t r)
{
	uint32_t i = r % OWN_SLOTS;
	size_t n = 8 + (r >> 8) % 100;
	uint32_t *p = rt_alloc(n);

	if (!p)
		return -1;
	p[0] = r;
	p[1] = m->mu_id;
	if (m->mu_own[i]) {
		m->mu_sum += *(uint32_t *)m->mu_own[i] & 7;
		rt_free(m->mu_own[i]);
	}
	m->mu_own[i] = p;
	return 0;
}

static int op_send(struct mutator *m, uint32_t r)
{
	uint32_t to = (m->mu_id + 1 + (r >> 4) % (rt_params.threads - 1)) % rt_params.threads;
	struct lane *l = &lanes[m->mu_id][to];
	uint32_t h = l->ln_head;
	msg *x;

	if (h - __atomic_load_n(&l->ln_tail, __ATOMIC_ACQUIRE) == MAIL_SLOTS) {
		m->mu_full++;
		return 0;
	}
	if (!(x = rt_alloc(sizeof *x)))
		return -1;
	x->m_from = m->mu_id;
	x->m_value = r & 0xff;
	l->ln_slot[h % MAIL_SLOTS] = x;
	__atomic_store_n(&l->ln_head, h + 1, __ATOMIC_RELEASE);
	return 0;
}

static int op_receive(struct mutator *m, uint32_t r)
{
	(void)r;
	for (int from = 0; from < rt_params.threads; from++) {
		struct lane *l = &lanes[from][m->mu_id];
		uint32_t t = l->ln_tail;

		if (from == (int)m->mu_id)
			continue;
		while (t != __atomic_load_n(&l->ln_head, __ATOMIC_ACQUIRE)) {
			msg *x = l->ln_slot[t % MAIL_SLOTS];

			m->mu_sum += x->m_value;
			mail_received[m->mu_id]++;
			__atomic_store_n(&l->ln_tail, ++t, __ATOMIC_RELEASE);
			rt_free(x);
		}
	}
	return 0;
}

static int op_lookup(struct mutator *m, uint32_t r)
{
	uint32_t key = r % 128;
	struct node *n;

	ep_enter();
	for (n = __atomic_load_n(&index_tab[key % NBUCKETS], __ATOMIC_ACQUIRE); n; n = __atomic_load_n(&n->n_next, __ATOMIC_ACQUIRE))
		if (n->n_key == key) {
			m->mu_sum += n->n_value;
			atomic_fetch_add_explicit(&n->n_hits, 1, memory_order_relaxed);
			break;
		}
	ep_leave();
	return 0;
}

static int op_update(struct mutator *m, uint32_t r)
{
	uint32_t key = r % 128;
	struct stripe *s = &stripes[key % NSTRIPES];
	struct node *n, **pp, *fresh;

	ep_enter();
	if (!ep_room()) {
		ep_leave();
		sched_yield();		/* the advancer has to catch up */
		return 0;
	}
	if (!(fresh = rt_alloc(sizeof *fresh))) {
		ep_leave();
		return -1;
	}
	fresh->n_key = key;
	fresh->n_value = key & 7;
	fresh->n_born = m->mu_done;
	atomic_init(&fresh->n_hits, 0);
	rt_lock(&s->s_lock);
	for (pp = &index_tab[key % NBUCKETS]; (n = *pp) && n->n_key != key; pp = &n->n_next)
		;
	if (n) {
		fresh->n_next = n->n_next;
		s->s_moves++;
	} else {
		fresh->n_next = NULL;
		s->s_nodes++;
	}
	if (n || atomic_load_explicit(&index_size, memory_order_relaxed) < index_limit) {
		__atomic_store_n(pp, fresh, __ATOMIC_RELEASE);
		if (!n)
			atomic_fetch_add_explicit(&index_size, 1, memory_order_relaxed);
		fresh = NULL;
	} else
		s->s_nodes--;
	rt_unlock(&s->s_lock);
	if (n)
		ep_retire(n);
	ep_leave();
	rt_free(fresh);
	atomic_fetch_add_explicit(&rt->live_objects, n ? 0 : 1, memory_order_relaxed);
	return 0;
}

static struct op ops[] = {
	{ "own", op_own, 6 }, { "send", op_send, 4 }, { "receive", op_receive, 3 },
	{ "lookup", op_lookup, 8 }, { "update", op_update, 3 },
};
static uint8_t op_table[32];
static unsigned op_table_n;

void load_init(void)
{
	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
		for (uint32_t w = 0; w < ops[i].o_weight; w++)
			op_table[op_table_n++] = i;
	for (int i = 0; i < rt_params.threads; i++) {
		struct mutator *m = calloc(1, sizeof *m);

		RT_CHECK(m);
		m->mu_id = i;
		m->mu_seed = 12345 + 777 * i;
		mutators[i] = m;
	}
	for (int i = 0; i < rt_params.threads; i++) {
		mutators[i]->mu_own = calloc(OWN_SLOTS, sizeof(void *));
		RT_CHECK(mutators[i]->mu_own);
	}
}

void *load_main(void *arg)
{
	struct mutator *m = arg ? arg : mutators[0];

	rt_thread_attach(m->mu_id);
	for (int k = 0; k < rt_params.ops; k++) {
		uint32_t r = rnd(m);
		struct op *o = &ops[op_table[(r >> 16) % op_table_n]];

		if (o->o_fn(m, r))
			atomic_fetch_add(&failures, 1);
		m->mu_done++;
		if (atomic_load_explicit(&rt->pressure, memory_order_relaxed))
			m->mu_shed++;		/* a real one would trim its caches */
		if ((k & 63) == 63)
			sched_yield();		/* the end of a request */
	}
	atomic_fetch_sub(&rt_running, 1);
	return NULL;
}

struct mutator *load_mutator(int i);
struct mutator *load_mutator(int i)
{
	return mutators[i];
}

uint64_t load_result(void)
{
	uint64_t s = 0;
	uint32_t full = 0;

	for (int i = 0; i < rt_params.threads; i++) {
		s += mutators[i]->mu_done;
		full += mutators[i]->mu_full;
	}
	rt_logf(1, "load: %u index nodes, %u lanes full, %u failures", index_size, full, failures);
	return s;
}
