#include "fp.h"
#include <sched.h>
#include <unistd.h>

_Atomic long in_flight __attribute__((aligned(LINE)));

static void on_frame(struct hook *h, const struct frame *f)
{
	h->last = f->number;
}

struct hook hooks[HOOK_MAX] __attribute__((aligned(LINE))) = {
	[HOOK_CAPTURED] = { .fn = on_frame },
	[HOOK_CODED] = { .fn = on_frame },
	[HOOK_MUXED] = { .fn = on_frame },
};

/* what the operator sees, all of it under one lock */
static struct {
	pthread_mutex_t mu;
	uint32_t shown;
	uint32_t keyframes;
	char text[32];
} console __attribute__((aligned(LINE))) = { .mu = PTHREAD_MUTEX_INITIALIZER };

static void console_note(const char *what, uint32_t n, bool key)
{
	pthread_mutex_lock(&console.mu);
	console.shown++;
	console.keyframes += key;
	snprintf(console.text, sizeof console.text, "%s %u", what, n);
	pthread_mutex_unlock(&console.mu);
}

static void fill(struct frame *f)
{
	uint32_t x = f->seed | 1;
	uint32_t *px = (uint32_t *)f->luma;
	for (int i = 0; i < FP_W * FP_H_ / 4; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		px[i] = x;
	}
}

/* capture: one frame from the pool, handed over slice by slice */
static int capture_one(struct pipe *p, uint32_t n)
{
	static unsigned long captured; /* only this function counts */
	struct frame *f;
	struct hook *h = &hooks[HOOK_CAPTURED];
	while (!(f = pool_get(p->pool)))
		sched_yield();
	f->number = n;
	f->pts = n * 40;
	f->seed = n * 2654435761u;
	f->type = n % 250 == 0;
	if (n % 16 == 0)
		fill(f);
	memset(f->coded, 0, sizeof f->coded);
	memset(f->bits, 0, sizeof f->bits);
	atomic_store(&f->remaining, NSLICE);
	atomic_fetch_add(&in_flight, 1);
	for (int s = 0; s < p->pool->slices; s++) {
		if (!queue_push(&p->slices, (struct work){ f, s }))
			return -1;
		__atomic_store_n(&captured, captured + 1, __ATOMIC_RELAXED);
		h->calls++;
		h->fn(h, f);
	}
	if (f->type)
		console_note("key frame", n, true);
	return (int)(captured & 1);
}

static void *capture_main(void *arg)
{
	struct pipe *p = arg;
	for (long n = 0; n < p->total; n++)
		if (capture_one(p, (uint32_t)n) < 0)
			break;
	return NULL;
}

/* muxer: adds up a coded frame and gives it back */
static uint64_t mux_one(struct pipe *p, struct frame *f)
{
	static unsigned long packets; /* only this function counts */
	uint64_t sum = 0;
	struct hook *h = &hooks[HOOK_MUXED];
	for (int s = 0; s < NSLICE; s++) {
		if (!f->coded[s])
			p->st->late++;
		sum += f->bits[s];
		p->rc->fed_bits += f->bits[s];
		__atomic_fetch_add(&p->st->muxed, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&packets, packets + 1, __ATOMIC_RELAXED);
		h->calls++;
		h->fn(h, f);
	}
	p->rc->fed_frames++;
	atomic_fetch_sub(&in_flight, 1);
	pool_put(p->pool, f);
	return sum + (packets & 1);
}

static void *mux_main(void *arg)
{
	struct pipe *p = arg;
	struct work w;
	uint64_t total = 0;
	uint32_t n = 0;
	while (queue_pop(&p->done, &w)) {
		total += mux_one(p, w.f);
		if (++n % 5000 == 0)
			console_note("muxed", n, false);
	}
	return (void *)(uintptr_t)total;
}

static struct pipe *pipe_new(long total)
{
	struct pipe *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->pool = pool_new(NFRAMES);
	p->rc = aligned_alloc(LINE, LINE);
	p->st = aligned_alloc(LINE, LINE);
	if (!p->pool || !p->rc || !p->st)
		return NULL;
	memset(p->rc, 0, LINE);
	memset(p->st, 0, LINE);
	p->rc->max_delta = 4;
	p->total = total;
	queue_init(&p->slices);
	queue_init(&p->done);
	for (int i = 0; i < NENC; i++)
		if (!(p->enc[i] = encoder_new(p, i)))
			return NULL;
	return p;
}

int main(void)
{
	const char *s = getenv("LOAD");
	long total = s ? strtol(s, NULL, 0) : 14000;
	struct pipe *p = pipe_new(total > 0 ? total : 1);
	pthread_t cap, mux;
	void *bits;
	if (!p || complexity_pass(p) < 0) {
		fprintf(stderr, "framepipe: no memory\n");
		return 1;
	}
	printf("framepipe: %dx%d, %d slices, qp %d\n", p->pool->width, p->pool->height,
	       p->pool->slices, p->rc->target_qp);
	pthread_create(&mux, NULL, mux_main, p);
	for (int i = 0; i < NENC; i++)
		if (pthread_create(&p->enc[i]->tid, NULL, encoder_main, p->enc[i]) != 0)
			return 1;
	pthread_create(&cap, NULL, capture_main, p);
	pthread_join(cap, NULL);
	queue_close(&p->slices);
	for (int i = 0; i < NENC; i++)
		pthread_join(p->enc[i]->tid, NULL);
	queue_close(&p->done);
	pthread_join(mux, &bits);
	for (int i = 0; i < NENC; i++)
		printf("encoder %d: %lu blocks, %lu bits\n", i, (unsigned long)p->enc[i]->blocks,
		       (unsigned long)p->enc[i]->bits);
	for (int i = 0; i < HOOK_MAX; i++)
		printf("hook %d: %lu calls, last %u\n", i, hooks[i].calls, hooks[i].last);
	encode_report(stdout);
	printf("fed %lu bits %lu frames, muxed %u late %u, in flight %ld, %lu\n",
	       (unsigned long)p->rc->fed_bits, (unsigned long)p->rc->fed_frames, p->st->muxed,
	       p->st->late, atomic_load(&in_flight), (unsigned long)(uintptr_t)bits);
	printf("console: %u notes, %u key frames\n", console.shown, console.keyframes);
	return 0;
}
