#include "fp.h"

struct pool *pool_new(int n)
{
	struct pool *p = aligned_alloc(LINE, LINE);
	if (!p)
		return NULL;
	memset(p, 0, LINE);
	pthread_spin_init(&p->lock, PTHREAD_PROCESS_PRIVATE);
	p->width = FP_W;
	p->height = FP_H_;
	p->mb_per_row = FP_W / MB;
	p->slices = NSLICE;
	for (int i = 0; i < n; i++) {
		struct frame *f = calloc(1, sizeof *f);
		if (!f)
			return NULL;
		f->luma = calloc(FP_W, FP_H_);
		if (!f->luma)
			return NULL;
		pool_put(p, f);
	}
	return p;
}

struct frame *pool_get(struct pool *p)
{
	struct frame *f;
	pthread_spin_lock(&p->lock);
	f = p->head;
	if (f) {
		p->head = f->next;
		p->free--;
	}
	pthread_spin_unlock(&p->lock);
	return f;
}

void pool_put(struct pool *p, struct frame *f)
{
	pthread_spin_lock(&p->lock);
	f->next = p->head;
	p->head = f;
	p->free++;
	pthread_spin_unlock(&p->lock);
}

void queue_init(struct queue *q)
{
	memset(q, 0, sizeof *q);
	pthread_mutex_init(&q->mu, NULL);
	pthread_cond_init(&q->more, NULL);
	pthread_cond_init(&q->room, NULL);
}

bool queue_push(struct queue *q, struct work w)
{
	pthread_mutex_lock(&q->mu);
	while (q->in - q->out == 32 && !q->closed)
		pthread_cond_wait(&q->room, &q->mu);
	if (q->closed) {
		pthread_mutex_unlock(&q->mu);
		return false;
	}
	q->item[q->in++ % 32] = w;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->mu);
	return true;
}

bool queue_pop(struct queue *q, struct work *w)
{
	bool ok = false;
	pthread_mutex_lock(&q->mu);
	while (q->in == q->out && !q->closed)
		pthread_cond_wait(&q->more, &q->mu);
	if (q->in != q->out) {
		*w = q->item[q->out++ % 32];
		ok = true;
		pthread_cond_signal(&q->room);
	}
	pthread_mutex_unlock(&q->mu);
	return ok;
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->mu);
	q->closed = true;
	pthread_cond_broadcast(&q->more);
	pthread_cond_broadcast(&q->room);
	pthread_mutex_unlock(&q->mu);
}
