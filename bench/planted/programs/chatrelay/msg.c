/* Messages, where they come from and where they wait. */
#include "relay.h"

#include <stdlib.h>

int msgpool_init(msgpool_t *p, unsigned n)
{
	pthread_mutex_init(&p->mu, NULL);
	p->free = NULL;
	p->out = 0;
	atomic_init(&p->quota, n);
	while (n--) {
		msg_t *m = aligned_alloc(CLINE, 128);
		if (!m)
			return -1;
		m->next = p->free;
		p->free = m;
	}
	return 0;
}

msg_t *msgpool_take(msgpool_t *p)
{
	msg_t *m;

	if (atomic_load_explicit(&p->quota, memory_order_relaxed) == 0)
		return NULL;
	pthread_mutex_lock(&p->mu);
	m = p->free;
	if (m) {
		p->free = m->next;
		p->out++;
	}
	pthread_mutex_unlock(&p->mu);
	return m;
}

void msgpool_give(msgpool_t *p, msg_t *m)
{
	pthread_mutex_lock(&p->mu);
	m->next = p->free;
	p->free = m;
	p->out--;
	pthread_mutex_unlock(&p->mu);
}

void msgpool_free(msgpool_t *p)
{
	if (p->out)
		log_line(L_WARN, "%u messages still out", p->out);
	for (msg_t *m = p->free; m; ) {
		msg_t *next = m->next;
		free(m);
		m = next;
	}
	pthread_mutex_destroy(&p->mu);
}

void inbox_init(inbox_t *b)
{
	pthread_mutex_init(&b->mu, NULL);
	b->first = b->last = NULL;
	b->count = 0;
	atomic_init(&b->paused, 0);
}

void inbox_put(inbox_t *b, msg_t *m)
{
	m->next = NULL;
	pthread_mutex_lock(&b->mu);
	if (b->last)
		b->last->next = m;
	else
		b->first = m;
	b->last = m;
	b->count++;
	pthread_mutex_unlock(&b->mu);
}

msg_t *inbox_get(inbox_t *b)
{
	pthread_mutex_lock(&b->mu);
	msg_t *m = b->first;
	if (m) {
		b->first = m->next;
		if (!b->first)
			b->last = NULL;
		b->count--;
	}
	pthread_mutex_unlock(&b->mu);
	return m;
}

void notes_put(notes_t *n, uint8_t room)
{
	uint16_t w = atomic_load_explicit(&n->wr, memory_order_relaxed);
	uint16_t r = atomic_load_explicit(&n->rd, memory_order_acquire);

	if ((uint16_t)(w - r) >= sizeof n->rooms) {
		n->lost++;
		return;
	}
	n->rooms[w % sizeof n->rooms] = room;
	atomic_store_explicit(&n->wr, (uint16_t)(w + 1), memory_order_release);
}

int notes_get(notes_t *n)
{
	uint16_t r = atomic_load_explicit(&n->rd, memory_order_relaxed);

	if (r == atomic_load_explicit(&n->wr, memory_order_acquire))
		return -1;
	int room = n->rooms[r % sizeof n->rooms];
	atomic_store_explicit(&n->rd, (uint16_t)(r + 1), memory_order_release);
	return room;
}
