/* In the style of a block layer. */
#include "blk.h"

struct elevator_data *elevator;

struct elevator_data *__init elv_init(void)
{
	struct elevator_data *e = kzalloc(sizeof(*e));

	if (!e)
		return NULL;
	e->fifo_expire = 125;
	e->front_merges = 1;
	return e;
}

/* by sector, from behind: most come in order */
void elv_insert(struct elevator_data *e, struct list_head *head, struct request *rq)
{
	struct list_head *pos = head->prev;
	int steps = 0;

	while (pos != head && steps++ < 6) {
		struct request *other = container_of(pos, struct request, queuelist);

		if (other->sector <= rq->sector)
			break;
		pos = pos->prev;
	}
	list_add_tail(&rq->queuelist, pos->next);
	spin_lock(&e->lock);
	e->nr_sorted++;
	spin_unlock(&e->lock);
}

struct request *elv_next(struct elevator_data *e, struct list_head *head)
{
	struct request *rq;

	if (list_empty(head))
		return NULL;
	rq = list_first_entry(head, struct request, queuelist);
	list_del_init(&rq->queuelist);
	spin_lock(&e->lock);
	e->nr_sorted--;
	if (rq->sector < e->last_sector)
		e->starved++;
	e->last_sector = rq->sector;
	spin_unlock(&e->lock);
	return rq;
}
