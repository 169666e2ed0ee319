#include "gate.h"

void inbox_init(struct inbox *in)
{
	memset(in, 0, sizeof *in);
	pthread_mutex_init(&in->lock, NULL);
	pthread_cond_init(&in->more, NULL);
	in->tail = &in->head;
}

void inbox_put(struct inbox *in, struct request *rq)
{
	rq->next = NULL;
	pthread_mutex_lock(&in->lock);
	*in->tail = rq;
	in->tail = &rq->next;
	in->depth++;
	if (in->waiting)
		pthread_cond_signal(&in->more);
	pthread_mutex_unlock(&in->lock);
}

/* Takes the oldest request, or NULL after the inbox was closed. */
struct request *inbox_take(struct inbox *in)
{
	struct request *rq;

	pthread_mutex_lock(&in->lock);
	while (!in->head && !in->closed) {
		in->waiting++;
		pthread_cond_wait(&in->more, &in->lock);
		in->waiting--;
	}
	rq = in->head;
	if (rq) {
		in->head = rq->next;
		if (!in->head)
			in->tail = &in->head;
		in->depth--;
	}
	pthread_mutex_unlock(&in->lock);
	if (rq)
		in->taken++;
	return rq;
}

void inbox_close(struct inbox *in)
{
	pthread_mutex_lock(&in->lock);
	in->closed = true;
	pthread_cond_broadcast(&in->more);
	pthread_mutex_unlock(&in->lock);
}
