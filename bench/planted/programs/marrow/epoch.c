/* epoch based reclamation: three limbo lists for each thread */
#include "rt.h"

#include <sched.h>

#define LIMBO	3
#define LIMBO_MAX 240

struct ep_record {
	_Atomic uint32_t er_active;
	_Atomic uint32_t er_epoch;
};

struct ep_limbo {
	uint32_t	li_n[LIMBO];
	uint32_t	li_epoch;
	void		*li_ptr[LIMBO][LIMBO_MAX];
};

static struct ep_record ep_records[RT_MAX_THREADS];
static _Atomic uint32_t ep_global = 3;
static uint32_t ep_advances;
static uint32_t ep_blocked;
static struct ep_limbo *ep_limbos[RT_MAX_THREADS];
static uint32_t ep_overflows[RT_MAX_THREADS];

void ep_init(void)
{
	for (int i = 0; i < rt_params.threads; i++) {
		ep_limbos[i] = calloc(1, sizeof(struct ep_limbo));
		RT_CHECK(ep_limbos[i]);
	}
}

static void limbo_free(struct ep_limbo *li, unsigned k)
{
	for (uint32_t i = 0; i < li->li_n[k]; i++)
		rt_free(li->li_ptr[k][i]);
	li->li_n[k] = 0;
}

void ep_enter(void)
{
	struct ep_record *r = &ep_records[rt_self];
	struct ep_limbo *li = ep_limbos[rt_self];
	uint32_t e = atomic_load_explicit(&ep_global, memory_order_acquire);

	atomic_store_explicit(&r->er_active, 1, memory_order_relaxed);
	atomic_store(&r->er_epoch, e);
	if (li->li_epoch != e) {
		li->li_epoch = e;
		limbo_free(li, e % LIMBO);
	}
}

void ep_leave(void)
{
	atomic_store_explicit(&ep_records[rt_self].er_active, 0, memory_order_release);
}

/* May something be retired now?  Not when the readers lag far behind. */
bool ep_room(void)
{
	struct ep_limbo *li = ep_limbos[rt_self];

	if (RT_LIKELY(li->li_n[li->li_epoch % LIMBO] < LIMBO_MAX))
		return true;
	ep_overflows[rt_self]++;
	return false;
}

void ep_retire(void *p)
{
	struct ep_limbo *li = ep_limbos[rt_self];
	unsigned k = li->li_epoch % LIMBO;

	RT_CHECK(li->li_n[k] < LIMBO_MAX);
	li->li_ptr[k][li->li_n[k]++] = p;
}

void ep_flush(void)
{
	for (int i = 0; i < rt_params.threads; i++)
		for (unsigned k = 0; k < LIMBO; k++)
			ep_limbos[i]->li_n[k] = 0;
	rt_logf(1, "epochs: %u advances, %u blocked", ep_advances, ep_blocked);
}

/* The advancer: moves the epoch on when nobody is left in an older one. */
void *ep_main(void *arg)
{
	(void)arg;
	while (atomic_load_explicit(&rt_running, memory_order_relaxed)) {
		uint32_t e = atomic_load_explicit(&ep_global, memory_order_relaxed);
		int i;

		for (i = 0; i < rt_params.threads; i++)
			if (atomic_load(&ep_records[i].er_active) && atomic_load(&ep_records[i].er_epoch) != e)
				break;
		if (i == rt_params.threads) {
			atomic_store(&ep_global, e + 1);
			ep_advances++;
		} else
			ep_blocked++;
		sched_yield();
	}
	return NULL;
}
