#include "conn.h"

#include <stdlib.h>

struct conn_pool *conn_pool_new(unsigned int total)
{
    struct conn_pool *pool = calloc(1, sizeof(*pool));

    if (!pool)
        abort();
    pthread_mutex_init(&pool->lock, NULL);
    pool->slab = calloc(total, sizeof(struct conn));
    if (!pool->slab)
        abort();
    pool->total = total;
    for (unsigned int i = 0; i < total; i++) {
        struct conn *c = &pool->slab[i];

        c->id = i;
        c->state = CONN_FREE;
        c->next_free = pool->free_list;
        pool->free_list = c;
    }
    pool->nfree = total;
    pool->low_water = total;
    return pool;
}

void conn_pool_destroy(struct conn_pool *pool)
{
    pthread_mutex_destroy(&pool->lock);
    free(pool->slab);
    free(pool);
}

struct conn *conn_pool_get(struct conn_pool *pool)
{
    struct conn *c;

    pthread_mutex_lock(&pool->lock);
    c = pool->free_list;
    if (c) {
        pool->free_list = c->next_free;
        pool->nfree--;
        if (pool->nfree < pool->low_water)
            pool->low_water = pool->nfree;
    }
    pthread_mutex_unlock(&pool->lock);
    return c;
}

void conn_pool_put(struct conn_pool *pool, struct conn *c)
{
    pthread_mutex_lock(&pool->lock);
    c->next_free = pool->free_list;
    pool->free_list = c;
    pool->nfree++;
    pthread_mutex_unlock(&pool->lock);
}
