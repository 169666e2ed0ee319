#include "gate.h"
#include <unistd.h>

static struct worker *workers[GATE_MAX_WORKERS];
static unsigned worker_count;

alignas(64) _Atomic int inflight;

/* totals that the threads leave behind when they end */
static struct worker_total {
	alignas(64) uint64_t handled;
	uint64_t cost;
	uint64_t bytes;
} worker_totals[GATE_MAX_WORKERS];

static _Thread_local struct reply scratch;

static unsigned reply_build(unsigned char *out, const struct request *rq, const struct reply *r)
{
	struct frame head = { .len = (uint16_t)r->len, .module = rq->module, .op = rq->op, .id = rq->id };

	memcpy(out, &head, FRAME_HEAD);
	memcpy(out + FRAME_HEAD, r->data, r->len);
	return (unsigned)FRAME_HEAD + r->len;
}

static void reply_send(struct conn *c, const unsigned char *buf, unsigned len, unsigned module)
{
	ssize_t n = write(c->fd, buf, len);

	if (n != (ssize_t)len) {
		c->tx_errors++;
		return;
	}
	c->tx_frames++;
	c->tx_bytes += len;
	c->last_module = module;
}

static void worker_handle(struct worker *w, struct request *rq)
{
	unsigned char buf[FRAME_HEAD + GATE_MAX_PAYLOAD];
	struct module *m = module_find(rq->module);
	struct reply *out = &scratch;

	out->len = 0;
	if (!m ||
	    rq->len < m->min_len ||
	    rq->len > settings.max_len) {
		rq->status = 400;
		w->rejected++;
		log_event(LOG_WARN, "rejected", rq->id);
	} else {
		atomic_fetch_add_explicit(&m->calls, 1, memory_order_relaxed);
		rq->status = m->handle(m, rq, out) ? 500 : 200;
		rq->cost = rq->len + out->len;
		if (m->flags & MOD_NEEDS_SESSION)
			session_touch(session_open(rq->id), rq->cost);
	}
	if (settings.trace)
		log_event(LOG_INFO, m ? m->name : "?", rq->status);
	reply_send(rq->conn, buf, reply_build(buf, rq, out), rq->module);
	timer_arm(rq->cost & 15);
	w->handled++;
	w->busy += rq->cost;
	worker_totals[w->index].cost += rq->cost;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct request *rq;
	unsigned slot = watch_join(ROLE_WORKER, "worker");

	while ((rq = inbox_take(w->inbox))) {
		worker_handle(w, rq);
		request_put(rq);
		atomic_fetch_sub_explicit(&inflight, 1, memory_order_relaxed);
		watch_beat(slot);
	}
	worker_totals[w->index].handled = w->handled;
	return NULL;
}

int workers_start(unsigned count)
{
	worker_count = count;
	for (unsigned i = 0; i < count; i++) {
		struct inbox *in = aligned_alloc(64, (sizeof *in + 63) & ~(size_t)63);

		if (!in)
			return -1;
		inbox_init(in);
		workers[i] = calloc(1, sizeof *workers[i]);
		if (!workers[i])
			return -1;
		workers[i]->index = i;
		workers[i]->inbox = in;
	}
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&workers[i]->thread, NULL, worker_main, workers[i]))
			return -1;
	return 0;
}

struct worker *worker_for(const struct conn *c, uint32_t id)
{
	return workers[((unsigned)c->fd + id) % worker_count];
}

void workers_stop(void)
{
	for (unsigned i = 0; i < worker_count; i++)
		inbox_close(workers[i]->inbox);
	for (unsigned i = 0; i < worker_count; i++)
		pthread_join(workers[i]->thread, NULL);
}

uint64_t workers_report(FILE *f)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < worker_count; i++) {
		sum += worker_totals[i].handled;
		if (workers[i]->rejected)
			fprintf(f, "worker %u: %u rejected\n", i, workers[i]->rejected);
	}
	fprintf(f, "workers: %llu requests\n", (unsigned long long)sum);
	return sum;
}
