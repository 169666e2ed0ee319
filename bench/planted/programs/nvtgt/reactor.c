/* SPDX-License-Identifier: BSD-3-Clause */
/* One event loop for each reactor: pollers, queue pairs, messages. */
#include "nv.h"

struct reactor_stat {
	uint32_t completed;
	uint32_t failed;
	uint32_t events;
};

struct opc_entry {
	uint8_t opc;
	uint8_t weight;
	int (*exec)(struct nv_ns *ns, struct nv_io *io);
	uint32_t executed;
};

struct reactor_time {
	alignas(64) uint64_t first_tick;
	uint64_t last_tick;
	uint64_t gaps;
};

static struct nv_reactor *reactors[NV_MAX_REACTORS];
static struct reactor_stat rstats[NV_MAX_REACTORS];
static struct reactor_time rtimes[NV_MAX_REACTORS];
static uint8_t lcore_idle[NV_MAX_REACTORS];
static uint32_t percpu_cmds[NV_MAX_CPUS];
static _Atomic uint32_t ready_reactors;
static _Atomic uint32_t bad_opcodes;
static _Thread_local struct nv_reactor *self;

static int exec_plain(struct nv_ns *ns, struct nv_io *io)
{
	return nv_bdev_submit(ns->bdev, io);
}

static int exec_modify(struct nv_ns *ns, struct nv_io *io)
{
	nv_add(&ns->ns_gen, 1);
	return nv_bdev_submit(ns->bdev, io);
}

static struct opc_entry opcodes[] = {
	{ NV_READ, 1, exec_plain, 0 },
	{ NV_WRITE, 2, exec_modify, 0 },
	{ NV_TRIM, 1, exec_modify, 0 },
	{ NV_COMPARE, 3, exec_plain, 0 },
};

unsigned nv_reactor_self(void)
{
	return self ? self->rid : NV_MAX_REACTORS;
}

struct nv_reactor *nv_reactor_at(unsigned i)
{
	return reactors[i];
}

void nv_reactor_add_qpair(struct nv_reactor *r, struct nv_qpair *qp)
{
	qp->next_qp = r->qpairs;
	r->qpairs = qp;
}

/* any thread */
int nv_reactor_post(struct nv_reactor *r, void (*fn)(void *), void *arg)
{
	static atomic_flag posting = ATOMIC_FLAG_INIT;
	uint32_t t;
	int rc = -1;

	while (atomic_flag_test_and_set_explicit(&posting, memory_order_acquire))
		nv_env->relax();
	t = nv_peek(&r->ev_tail);
	if (t - nv_load(&r->ev_head) < NV_EVRING) {
		r->ev_slot[t % NV_EVRING] = (struct nv_event){ fn, arg };
		nv_store(&r->ev_tail, t + 1);
		rc = 0;
	}
	atomic_flag_clear_explicit(&posting, memory_order_release);
	return rc;
}

static int run_events(struct nv_reactor *r)
{
	uint32_t h = nv_peek(&r->ev_head);
	int n = 0;

	while (h != nv_load(&r->ev_tail)) {
		struct nv_event ev = r->ev_slot[h % NV_EVRING];

		nv_store(&r->ev_head, ++h);
		ev.handler(ev.ev_arg);
		rstats[r->rid].events++;
		n++;
	}
	return n;
}

static void complete(struct nv_qpair *qp, const struct nv_cmd *c, int rc, uint32_t result)
{
	uint32_t t = nv_peek(&qp->cq_tail);
	struct nv_cpl *cpl = &qp->cq[t % qp->depth];

	cpl->cid = c->cid;
	cpl->status = rc ? 0x281 : 0;
	cpl->result = result;
	nv_store(&qp->cq_tail, t + 1);
}

static void execute(struct nv_reactor *r, struct nv_qpair *qp, const struct nv_cmd *c)
{
	struct reactor_stat *st = &rstats[r->rid];
	struct nv_io io = { .cmd = c, .lba = c->lba };
	struct nv_ns *ns = nv_ns_get(c->nsid);
	int cpu = sched_getcpu();

	if (cpu >= 0 && cpu < NV_MAX_CPUS)
		percpu_cmds[cpu]++;
	if (!ns || c->opcode >= NV_ARRAY_SIZE(opcodes)) {
		nv_add(&bad_opcodes, 1);
		st->failed++;
		complete(qp, c, -1, 0);
		return;
	}
	opcodes[c->opcode].executed++;
	io.rc = opcodes[c->opcode].exec(ns, &io);
	if (io.rc)
		st->failed++;
	else
		st->completed++;
	nv_account(c->opcode, opcodes[c->opcode].weight);
	nv_ns_put(ns);
	complete(qp, c, io.rc, io.result);
}

static int poll_qpairs(void *ctx)
{
	struct nv_reactor *r = ctx;
	int n = 0;

	for (struct nv_qpair *qp = r->qpairs; qp; qp = qp->next_qp) {
		uint32_t h = nv_peek(&qp->sq_head);

		for (unsigned k = 0; k < r->batch && h != nv_load(&qp->sq_tail); k++) {
			struct nv_cmd c = qp->sq[h % qp->depth];

			nv_store(&qp->sq_head, ++h);
			execute(r, qp, &c);
			n++;
		}
	}
	return n;
}

static int poll_events(void *ctx)
{
	return run_events(ctx);
}

static int poll_clock(void *ctx)
{
	struct nv_reactor *r = ctx;
	struct reactor_time *tm = &rtimes[r->rid];
	uint32_t now = nv_peek(&nv_ticks);

	if (!tm->first_tick)
		tm->first_tick = now;
	if (now != tm->last_tick) {
		tm->gaps += now - tm->last_tick > 8;
		tm->last_tick = now;
	}
	return 0;
}

static void reactor_body(void *ctx)
{
	struct nv_reactor *r = self = ctx;

	nv_add(&ready_reactors, 1);
	while (!nv_load(&nv_draining)) {
		int work = 0;

		for (struct nv_poller *p = r->pollers; p; p = p->next_poller) {
			int n = p->poll(p->poll_ctx);

			p->runs++;
			if (n) {
				p->hits++;
				work += n;
			}
		}
		if (work) {
			r->busy_loops++;
			lcore_idle[r->rid] = 0;
		} else {
			r->idle_loops++;
			lcore_idle[r->rid] = 1;
			nv_env->relax();
		}
	}
}

static int add_poller(struct nv_reactor *r, nv_poll_fn fn)
{
	struct nv_poller *p = calloc(1, sizeof *p);

	if (!p)
		return -1;
	p->poll = fn;
	p->poll_ctx = r;
	p->next_poller = r->pollers;
	r->pollers = p;
	return 0;
}

static int reactor_init(const struct nv_opts *o)
{
	static const nv_poll_fn builtin[] = { poll_clock, poll_events, poll_qpairs };

	for (unsigned i = 0; i < o->reactors; i++) {
		struct nv_reactor *r = calloc(1, sizeof *r);

		if (!r)
			return -1;
		r->rid = i;
		r->batch = 4;
		for (size_t k = 0; k < NV_ARRAY_SIZE(builtin); k++)
			if (add_poller(r, builtin[k]))
				return -1;
		r->thread.body = reactor_body;
		r->thread.body_ctx = r;
		reactors[i] = r;
	}
	return 0;
}

static int reactor_start(void)
{
	for (unsigned i = 0; i < nv_opts.reactors; i++)
		if (nv_env->spawn(&reactors[i]->thread))
			return -1;
	return 0;
}

static void reactor_stop(void)
{
	for (unsigned i = 0; i < nv_opts.reactors; i++)
		nv_env->reap(&reactors[i]->thread);
}

static void reactor_dump(FILE *f)
{
	unsigned c = 0;

	for (unsigned i = 0; i < nv_opts.reactors; i++)
		fprintf(f, "reactor %u: %u done, %u failed, %u events, busy %lu idle %lu, gaps %lu\n", i, rstats[i].completed, rstats[i].failed,
			rstats[i].events, (unsigned long)reactors[i]->busy_loops, (unsigned long)reactors[i]->idle_loops, (unsigned long)rtimes[i].gaps);
	for (unsigned i = 0; i < NV_MAX_CPUS; i++)
		c += percpu_cmds[i];
	for (size_t i = 0; i < NV_ARRAY_SIZE(opcodes); i++)
		fprintf(f, "opcode %u: %u\n", opcodes[i].opc, opcodes[i].executed);
	fprintf(f, "%u commands, %u reactors, %u bad\n", c, nv_peek(&ready_reactors), nv_peek(&bad_opcodes));
}

const struct nv_subsystem nv_reactor_subsystem = {
	.subsys_name = "reactor",
	.init = reactor_init,
	.start = reactor_start,
	.stop = reactor_stop,
	.dump = reactor_dump,
};
