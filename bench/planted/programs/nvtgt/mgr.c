/* SPDX-License-Identifier: BSD-3-Clause */
/* Quality of service and the balance of the reactors. */
#include "nv.h"

struct sample {
	uint64_t seen_busy;
	uint64_t seen_idle;
	uint32_t load;
};

struct ping {
	_Atomic uint32_t pongs;
	uint32_t pings;
	uint32_t target;
};

static struct sample samples[NV_MAX_REACTORS];
static struct ping *pings[NV_MAX_REACTORS];
static struct nv_thread mgr_thread;
static uint32_t refill_rounds;
static uint32_t overloads;

static void on_ping(void *arg)
{
	struct ping *p = arg;

	nv_add(&p->pongs, 1);
}

static void refill(void)
{
	struct nv_bdev *bd;

	for (unsigned i = 0; (bd = nv_bdev_by_index(i)); i++) {
		int32_t c = nv_peek(&bd->qos_credit);

		if (c < (int32_t)nv_opts.qos_quota) {
			nv_add(&bd->qos_credit, (int32_t)nv_opts.qos_quota - c);
			bd->qos_refills++;
		}
	}
	refill_rounds++;
}

static void observe(unsigned i)
{
	struct nv_reactor *r = nv_reactor_at(i);
	struct sample *s = &samples[i];
	uint64_t b = *(volatile uint64_t *)&r->busy_loops, d = *(volatile uint64_t *)&r->idle_loops;
	uint64_t all = b - s->seen_busy + d - s->seen_idle;

	s->load = all ? (uint32_t)(100 * (b - s->seen_busy) / all) : 0;
	s->seen_busy = b;
	s->seen_idle = d;
	if (s->load > 99 && ++overloads == 0)
		r->batch++;
}

static void mgr_body(void *ctx)
{
	(void)ctx;
	while (!nv_load(&nv_draining)) {
		unsigned n = nv_add(&nv_ticks, 1);

		refill();
		for (unsigned i = 0; i < nv_opts.reactors; i++)
			observe(i);
		struct ping *p = pings[n % nv_opts.reactors];
		if (p->pings - nv_peek(&p->pongs) < 2 && !nv_reactor_post(nv_reactor_at(p->target), on_ping, p))
			p->pings++;
		nv_env->relax();
	}
}

static int mgr_init(const struct nv_opts *o)
{
	for (unsigned i = 0; i < o->reactors; i++) {
		pings[i] = calloc(1, sizeof **pings);
		if (!pings[i])
			return -1;
		pings[i]->target = i;
	}
	mgr_thread.body = mgr_body;
	return 0;
}

static int mgr_start(void)
{
	return nv_env->spawn(&mgr_thread);
}

static void mgr_stop(void)
{
	nv_env->reap(&mgr_thread);
}

static void mgr_dump(FILE *f)
{
	uint32_t p = 0;

	for (unsigned i = 0; i < nv_opts.reactors; i++)
		p += nv_peek(&pings[i]->pongs);
	fprintf(f, "manager: %u refill rounds, %u pongs, %u overloads\n", refill_rounds, p, overloads);
}

const struct nv_subsystem nv_mgr_subsystem = {
	.subsys_name = "manager",
	.init = mgr_init,
	.start = mgr_start,
	.stop = mgr_stop,
	.dump = mgr_dump,
};
