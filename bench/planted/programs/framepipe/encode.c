#include "fp.h"

/* intra/skip decisions: the first encoder measures, the last one audits */
static unsigned long measured_intra;
static unsigned long audited_skip;

/* scratch results of the complexity pass, one cell a thread */
static uint64_t pass_cost[NENC];
static pthread_barrier_t pass_barrier;

/* coding errors */
static struct {
	unsigned long overflow;
	unsigned long bad_slice;
} enc_err __attribute__((aligned(LINE)));

/* symbol counts of the entropy coder; slot taken from the slice number's owner */
static struct symbol_slot {
	uint32_t zeros;
	uint32_t ones;
	uint32_t escapes;
} symbols[8] __attribute__((aligned(LINE)));
static __thread struct symbol_slot *my_symbols;
static _Atomic unsigned symbol_next __attribute__((aligned(LINE)));

struct encoder *encoder_new(struct pipe *p, int id)
{
	struct encoder *e = aligned_alloc(LINE, sizeof *e);
	if (!e)
		return NULL;
	memset(e, 0, sizeof *e);
	e->p = p;
	e->id = id;
	return e;
}

static int transform(struct encoder *e, const uint8_t *px, int stride)
{
	int sum = 0, energy = 0;
	for (int y = 0; y < MB; y++)
		for (int x = 0; x < MB; x++)
			sum += px[y * stride + x];
	sum /= MB * MB;
	for (int y = 0; y < MB; y++)
		for (int x = 0; x < MB; x++) {
			int d = px[y * stride + x] - sum;
			e->coef[y * MB + x] = (int16_t)d;
			energy += d < 0 ? -d : d;
		}
	return energy;
}

static int count_symbols(const struct encoder *e, int qp)
{
	struct symbol_slot *s = my_symbols;
	int bits = 0;
	for (int i = 0; i < MB * MB; i += 4) {
		int level = e->coef[i] / (qp + 1);
		if (level == 0) {
			s->zeros++;
			bits += 1;
		} else if (level == 1 || level == -1) {
			s->ones++;
			bits += 3;
		} else {
			s->escapes++;
			bits += 9;
		}
	}
	return bits;
}

static int encode_slice(struct encoder *e, struct frame *f, int slice)
{
	struct pipe *p = e->p;
	int bits = 0;
	if (slice < 0 || slice >= p->pool->slices) {
		enc_err.bad_slice++;
		return -1;
	}
	/* dispersed slices: every NSLICE-th block belongs to this one */
	for (int mb = slice; mb < NMB; mb += NSLICE) {
		int w = p->pool->mb_per_row, stride = p->pool->width;
		int x = mb % w * MB, y = mb / w * MB, qp, energy;
		energy = transform(e, f->luma + y * stride + x, stride);
		qp = p->rc->target_qp + (energy > 200 ? p->rc->max_delta : 0);
		if (p->rc->lossless)
			qp = 0;
		f->qp[mb] = (uint8_t)qp;
		bits = count_symbols(e, qp);
		f->bits[slice] += (uint32_t)bits;
		e->bits += (uint64_t)bits;
		if (e->id == 0) {
			p->st->level_hist[energy / 64 % 12]++;
			if (energy > 100)
				__atomic_store_n(&measured_intra, measured_intra + 1, __ATOMIC_RELAXED);
		} else if (e->id == NENC - 1) {
			__atomic_store_n(&audited_skip, audited_skip + 1, __ATOMIC_RELAXED);
		}
		e->blocks++;
	}
	if (bits > 1 << 20)
		enc_err.overflow++;
	f->coded[slice] = 1;
	return bits;
}

void *encoder_main(void *arg)
{
	struct encoder *e = arg;
	struct work w;
	my_symbols = &symbols[atomic_fetch_add(&symbol_next, 1) % 8];
	while (queue_pop(&e->p->slices, &w)) {
		encode_slice(e, w.f, w.slice);
		if (e->id == 1) {
			struct hook *h = &hooks[HOOK_CODED];
			h->calls++;
			if (h->fn)
				h->fn(h, w.f);
		}
		if (atomic_fetch_sub(&w.f->remaining, 1) == 1) {
			w.slice = -1;
			queue_push(&e->p->done, w);
		}
	}
	return NULL;
}

static void *pass_main(void *arg)
{
	int id = (int)(intptr_t)arg;
	uint32_t x = 12345u + (uint32_t)id;
	/* the threads take turns, a barrier between any two of them */
	for (int turn = 0; turn < NENC; turn++) {
		if (turn == id)
			for (int i = 0; i < 200; i++) {
				x = x * 1664525u + 1013904223u;
				pass_cost[id] += x >> 20;
			}
		pthread_barrier_wait(&pass_barrier);
	}
	return NULL;
}

int complexity_pass(struct pipe *p)
{
	pthread_t t[NENC];
	uint64_t sum = 0;
	pthread_barrier_init(&pass_barrier, NULL, NENC);
	for (int i = 0; i < NENC; i++)
		if (pthread_create(&t[i], NULL, pass_main, (void *)(intptr_t)i) != 0)
			return -1;
	for (int i = 0; i < NENC; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < NENC; i++)
		sum += pass_cost[i];
	p->rc->target_qp = 10 + (int)(sum % 5);
	return 0;
}

void encode_report(FILE *f)
{
	uint32_t z = 0, o = 0, e = 0;
	for (int i = 0; i < 8; i++) {
		z += symbols[i].zeros;
		o += symbols[i].ones;
		e += symbols[i].escapes;
	}
	fprintf(f, "symbols %u/%u/%u intra %lu skip %lu errors %lu/%lu\n", z, o, e,
		measured_intra, audited_skip, enc_err.overflow, enc_err.bad_slice);
}
