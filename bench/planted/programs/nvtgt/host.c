/* SPDX-License-Identifier: BSD-3-Clause */
/* Initiators: keep every queue pair of theirs as full as it goes. */
#include "nv.h"

struct host {
	unsigned hid;
	uint32_t seed;
	uint32_t submitted;
	uint32_t reaped;
	uint32_t errors;
	struct nv_qpair *qp[NV_MAX_REACTORS];
	struct nv_thread thread;
};

struct host_view {
	uint32_t last_result;
	uint32_t digest;
};

static struct host *hosts[NV_MAX_HOSTS];
static struct host_view views[NV_MAX_HOSTS];
static _Atomic uint32_t hosts_running;
static _Atomic uint32_t commands_issued;
static uint32_t burst_size = 3;
static struct {
	pthread_mutex_t log_lock;
	uint32_t log_lines;
	char log_text[96];
} host_log = { .log_lock = PTHREAD_MUTEX_INITIALIZER };

static void log_error(const struct host *h, unsigned status)
{
	pthread_mutex_lock(&host_log.log_lock);
	snprintf(host_log.log_text, sizeof host_log.log_text, "host %u: status %x", h->hid, status);
	host_log.log_lines++;
	pthread_mutex_unlock(&host_log.log_lock);
}

static uint32_t roll(struct host *h)
{
	h->seed = h->seed * 1664525u + 1013904223u;
	return h->seed >> 8;
}

static int submit_one(struct host *h, struct nv_qpair *qp)
{
	uint32_t t = nv_peek(&qp->sq_tail);
	uint32_t x;
	struct nv_cmd *c;

	if (t - nv_peek(&qp->cq_head) >= qp->depth)
		return 0;
	x = roll(h);
	c = &qp->sq[t % qp->depth];
	c->opcode = x % 8 < 4 ? NV_READ : x % 8 < 6 ? NV_WRITE : x % 8 == 6 ? NV_TRIM : NV_COMPARE;
	c->nsid = (x >> 4) % nv_ns_count();
	c->cid = t;
	c->lba = (x >> 8) % 64;
	c->payload = x;
	nv_store(&qp->sq_tail, t + 1);
	h->submitted++;
	nv_add(&commands_issued, 1);
	return 1;
}

static int reap_all(struct host *h, struct nv_qpair *qp)
{
	uint32_t head = nv_peek(&qp->cq_head);
	struct host_view *v = &views[h->hid];
	int n = 0;

	while (head != nv_load(&qp->cq_tail)) {
		struct nv_cpl c = qp->cq[head % qp->depth];

		nv_store(&qp->cq_head, ++head);
		if (c.status) {
			h->errors++;
			log_error(h, c.status);
		}
		v->last_result = c.result;
		v->digest = v->digest * 31 + c.cid;
		h->reaped++;
		n++;
	}
	return n;
}

static void host_body(void *ctx)
{
	struct host *h = ctx;

	while (h->reaped < nv_opts.rounds) {
		int did = 0;

		for (unsigned i = 0; i < nv_opts.reactors; i++) {
			for (uint32_t k = 0; k < burst_size && h->submitted < nv_opts.rounds; k++)
				did += submit_one(h, h->qp[i]);
			did += reap_all(h, h->qp[i]);
		}
		if (!did)
			nv_env->relax();
	}
	if (nv_sub(&hosts_running, 1) == 1)
		nv_store(&nv_draining, true);
}

static struct nv_qpair *qpair_new(unsigned qid)
{
	struct nv_qpair *qp = calloc(1, sizeof *qp);

	if (!qp)
		return NULL;
	qp->qid = qid;
	qp->depth = NV_QDEPTH;
	qp->sq = calloc(NV_QDEPTH, sizeof *qp->sq);
	qp->cq = calloc(NV_QDEPTH, sizeof *qp->cq);
	return qp->sq && qp->cq ? qp : NULL;
}

static int host_init(const struct nv_opts *o)
{
	for (unsigned i = 0; i < o->hosts; i++) {
		struct host *h = calloc(1, sizeof *h);

		if (!h)
			return -1;
		h->hid = i;
		h->seed = 9 + i * 77;
		for (unsigned r = 0; r < o->reactors; r++) {
			h->qp[r] = qpair_new(i * o->reactors + r + 1);
			if (!h->qp[r])
				return -1;
			nv_reactor_add_qpair(nv_reactor_at(r), h->qp[r]);
		}
		h->thread.body = host_body;
		h->thread.body_ctx = h;
		hosts[i] = h;
	}
	nv_store(&hosts_running, o->hosts);
	return 0;
}

static int host_start(void)
{
	for (unsigned i = 0; i < nv_opts.hosts; i++)
		if (nv_env->spawn(&hosts[i]->thread))
			return -1;
	return 0;
}

static void host_stop(void)
{
	for (unsigned i = 0; i < nv_opts.hosts; i++)
		nv_env->reap(&hosts[i]->thread);
}

static void host_dump(FILE *f)
{
	for (unsigned i = 0; i < nv_opts.hosts; i++)
		fprintf(f, "host %u: %u submitted, %u reaped, %u errors, digest %x\n", i, hosts[i]->submitted, hosts[i]->reaped, hosts[i]->errors,
			views[i].digest);
	fprintf(f, "%u commands, %u log lines\n", nv_peek(&commands_issued), host_log.log_lines);
}

const struct nv_subsystem nv_host_subsystem = {
	.subsys_name = "host",
	.init = host_init,
	.start = host_start,
	.stop = host_stop,
	.dump = host_dump,
};
