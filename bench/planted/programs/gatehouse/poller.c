#include "gate.h"
#include <errno.h>
#include <poll.h>
#include <unistd.h>

static struct conn *conns[GATE_MAX_CONNS];
static unsigned conn_count;
static pthread_t poller_thread;

/* for the report at the end only */
static struct {
	uint32_t wakeups;
	uint32_t short_reads;
	uint32_t oversize;
} poll_stats;

void poller_add(int fd)
{
	struct conn *c = aligned_alloc(64, (sizeof *c + 63) & ~(size_t)63);

	if (!c || conn_count == GATE_MAX_CONNS)
		abort();
	memset(c, 0, sizeof *c);
	c->fd = fd;
	c->open = true;
	conns[conn_count++] = c;
}

static void conn_close(struct conn *c)
{
	c->open = false;
	log_event(LOG_INFO, "closed", (uint32_t)c->fd);
}

static void dispatch(struct conn *c, const struct frame *f)
{
	struct request *rq;
	struct worker *w;

	while (!(rq = request_get()))
		sched_yield();
	rq->conn = c;
	rq->id = f->id;
	rq->module = f->module;
	rq->op = f->op;
	rq->len = f->len;
	rq->status = 0;
	memcpy(rq->body, f->payload, f->len);
	settings.requests_seen++;
	atomic_fetch_add_explicit(&inflight, 1, memory_order_relaxed);
	w = worker_for(c, f->id);
	inbox_put(w->inbox, rq);
}

/* Cuts whole frames out of the input buffer. */
static void conn_frames(struct conn *c, unsigned index)
{
	unsigned at = 0;
	struct frame f;

	while (c->in.used - at >= FRAME_HEAD) {
		memcpy(&f, c->in.data + at, FRAME_HEAD);
		if (f.len > GATE_MAX_PAYLOAD) {
			poll_stats.oversize++;
			conn_close(c);
			return;
		}
		if (c->in.used - at < FRAME_HEAD + f.len)
			break;
		memcpy(f.payload, c->in.data + at + FRAME_HEAD, f.len);
		at += (unsigned)FRAME_HEAD + f.len;
		if (!limit_pass(index))
			log_event(LOG_DEBUG, "over the limit", f.id);
		c->rx_frames++;
		c->rx_bytes += FRAME_HEAD + f.len;
		dispatch(c, &f);
	}
	if (at && at < c->in.used)
		memmove(c->in.data, c->in.data + at, c->in.used - at);
	c->in.used -= at;
}

static bool conn_read(struct conn *c, unsigned index)
{
	ssize_t n = read(c->fd, c->in.data + c->in.used, sizeof c->in.data - c->in.used);

	if (n == 0)
		return false;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if ((size_t)n < FRAME_HEAD)
		poll_stats.short_reads++;
	c->in.used += (unsigned)n;
	conn_frames(c, index);
	return true;
}

static void *poller_main(void *arg)
{
	struct pollfd set[GATE_MAX_CONNS];
	unsigned index[GATE_MAX_CONNS], slot = watch_join(ROLE_POLLER, "poller");

	(void)arg;
	for (;;) {
		unsigned n = 0;

		for (unsigned i = 0; i < conn_count; i++)
			if (conns[i]->open) {
				set[n] = (struct pollfd){ .fd = conns[i]->fd, .events = POLLIN };
				index[n++] = i;
			}
		if (n == 0)
			break;
		if (poll(set, n, 1000) < 0 && errno != EINTR)
			break;
		poll_stats.wakeups++;
		for (unsigned k = 0; k < n; k++)
			if (set[k].revents && !conn_read(conns[index[k]], index[k]))
				conn_close(conns[index[k]]);
		watch_beat(slot);
	}
	return NULL;
}

int poller_start(void)
{
	return pthread_create(&poller_thread, NULL, poller_main, NULL);
}

void poller_stop(void)
{
	pthread_join(poller_thread, NULL);
}

void poller_report(FILE *f)
{
	uint64_t rx = 0, tx = 0;

	for (unsigned i = 0; i < conn_count; i++) {
		rx += conns[i]->rx_frames;
		tx += conns[i]->tx_frames;
		close(conns[i]->fd);
	}
	fprintf(f, "frames: %llu in, %llu out, %u oversize\n", (unsigned long long)rx,
		(unsigned long long)tx, poll_stats.oversize);
}
