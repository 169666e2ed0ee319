#include <stdio.h>
#include <stdlib.h>

#include "tiler.h"

typedef struct {
    pthread_t thread;
    int       id;
    Pool     *pool;
} PoolThread;

struct Pool {
    int               count;
    PoolMain          body;
    void             *context;
    pthread_barrier_t gate;
    PoolThread        threads[MAX_WORKERS];
};

static uint8_t busyFlag[MAX_WORKERS] __attribute__((aligned(8)));

void poolMark(int id, bool busy)
{
    __atomic_store_n(&busyFlag[id], busy, __ATOMIC_RELEASE);
}

bool poolBusy(int numWorkers)
{
    for (int i = 0; i < numWorkers; i++)
        if (__atomic_load_n(&busyFlag[i], __ATOMIC_ACQUIRE))
            return true;
    return false;
}

static void *poolEntry(void *arg)
{
    PoolThread *self = arg;
    Pool       *pool = self->pool;

    pthread_barrier_wait(&pool->gate);
    pool->body(self->id, pool->context);
    return NULL;
}

Pool *poolStart(int numWorkers, PoolMain body, void *context)
{
    Pool *pool = calloc(1, sizeof(*pool));

    if (!pool)
        return NULL;
    pool->count = numWorkers;
    pool->body = body;
    pool->context = context;
    pthread_barrier_init(&pool->gate, NULL, (unsigned)numWorkers);
    for (int i = 0; i < numWorkers; i++) {
        pool->threads[i].id = i;
        pool->threads[i].pool = pool;
        if (pthread_create(&pool->threads[i].thread, NULL, poolEntry, &pool->threads[i]) != 0) {
            perror("pthread_create");
            exit(1);
        }
    }
    return pool;
}

void poolJoin(Pool *pool)
{
    for (int i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i].thread, NULL);
    pthread_barrier_destroy(&pool->gate);
    free(pool);
}
