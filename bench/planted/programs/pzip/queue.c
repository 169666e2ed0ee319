#include <sched.h>
#include <string.h>

#include "internal.h"

int pz_queue_init(pz_queue *q)
{
    memset(q, 0, sizeof *q);
    if (pthread_mutex_init(&q->take_lock, NULL) != 0)
        return PZ_EMEM;
    if (pthread_mutex_init(&q->give_lock, NULL) != 0) {
        pthread_mutex_destroy(&q->take_lock);
        return PZ_EMEM;
    }
    return PZ_OK;
}

void pz_queue_destroy(pz_queue *q)
{
    pthread_mutex_destroy(&q->take_lock);
    pthread_mutex_destroy(&q->give_lock);
}

/* There are never more items than slots, so the queue cannot be full. */
void pz_queue_give(pz_queue *q, uint16_t item)
{
    pthread_mutex_lock(&q->give_lock);
    q->item[q->tail % PZ_SLOTS] = item;
    q->tail++;
    atomic_fetch_add(&q->avail, 1);
    pthread_mutex_unlock(&q->give_lock);
}

/* Returns a slot number, or -1 once the queue is closed and empty. */
int pz_queue_take(pz_queue *q)
{
    int item = -1;

    for (;;) {
        pthread_mutex_lock(&q->take_lock);
        if (atomic_load(&q->avail) > 0) {
            atomic_fetch_sub(&q->avail, 1);
            item = q->item[q->head % PZ_SLOTS];
            q->head++;
        } else {
            q->taken_empty++;
        }
        pthread_mutex_unlock(&q->take_lock);
        if (item >= 0 || q->closed)
            return item;
        sched_yield();
    }
}

void pz_queue_close(pz_queue *q)
{
    pthread_mutex_lock(&q->give_lock);
    q->closed = 1;
    pthread_mutex_unlock(&q->give_lock);
}
