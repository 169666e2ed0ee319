#include "dns.h"

void queue_init(struct jobqueue *q)
{
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->more, NULL);
}

void queue_push(struct jobqueue *q, struct job *j)
{
    j->next = NULL;
    pthread_mutex_lock(&q->lock);
    if (q->tail)
        q->tail->next = j;
    else
        q->head = j;
    q->tail = j;
    q->depth++;
    pthread_cond_signal(&q->more);
    pthread_mutex_unlock(&q->lock);
}

struct job *queue_pop(struct jobqueue *q)
{
    pthread_mutex_lock(&q->lock);
    while (!q->head && !q->closed)
        pthread_cond_wait(&q->more, &q->lock);
    struct job *j = q->head;
    if (j) {
        q->head = j->next;
        if (!q->head)
            q->tail = NULL;
        q->depth--;
    }
    pthread_mutex_unlock(&q->lock);
    return j;
}

void queue_close(struct jobqueue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->more);
    pthread_mutex_unlock(&q->lock);
}
