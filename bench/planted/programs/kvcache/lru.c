#include "kv.h"

static void unlink_item(cache_t *c, item_t *it)
{
    if (it->prev)
        it->prev->next = it->next;
    else if (c->lru_head == it)
        c->lru_head = it->next;
    else
        return;                     /* not on the list */
    if (it->next)
        it->next->prev = it->prev;
    else
        c->lru_tail = it->prev;
    it->prev = it->next = NULL;
    c->lru_count--;
}

static void push_front(cache_t *c, item_t *it)
{
    it->prev = NULL;
    it->next = c->lru_head;
    if (c->lru_head)
        c->lru_head->prev = it;
    else
        c->lru_tail = it;
    c->lru_head = it;
    c->lru_count++;
}

void lru_insert(cache_t *c, item_t *it)
{
    pthread_mutex_lock(&c->lru_lock);
    push_front(c, it);
    pthread_mutex_unlock(&c->lru_lock);
}

void lru_bump(cache_t *c, item_t *it)
{
    pthread_mutex_lock(&c->lru_lock);
    if (c->lru_head != it && (it->prev || it->next)) {
        unlink_item(c, it);
        push_front(c, it);
    }
    pthread_mutex_unlock(&c->lru_lock);
}

void lru_remove(cache_t *c, item_t *it)
{
    pthread_mutex_lock(&c->lru_lock);
    unlink_item(c, it);
    pthread_mutex_unlock(&c->lru_lock);
}

/* the oldest one, with a reference for the caller */
item_t *lru_victim(cache_t *c)
{
    item_t *it = NULL;
    pthread_mutex_lock(&c->lru_lock);
    if (c->lru_count > c->max_items && (it = c->lru_tail)) {
        atomic_fetch_add(&it->refcount, 1);
        unlink_item(c, it);
    }
    pthread_mutex_unlock(&c->lru_lock);
    return it;
}
