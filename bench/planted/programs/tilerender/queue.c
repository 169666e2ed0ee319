#include <stdlib.h>
#include <string.h>

#include "tiler.h"

struct TileQueue {
    pthread_mutex_t lock;
    uint64_t        encoded;
    uint64_t        digest;
    uint32_t        overruns;
    uint32_t        pad;
    pthread_cond_t  notFull;
    pthread_cond_t  notEmpty;
    bool            closed;
    int             head;
    int             used;
    Tile            slots[QUEUE_DEPTH];
};

TileQueue *queueNew(void)
{
    TileQueue *q;
    void      *mem;

    if (posix_memalign(&mem, 64, sizeof(TileQueue)) != 0)
        return NULL;
    q = memset(mem, 0, sizeof(TileQueue));
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->notFull, NULL);
    pthread_cond_init(&q->notEmpty, NULL);
    return q;
}

void queueFree(TileQueue *q)
{
    pthread_cond_destroy(&q->notFull);
    pthread_cond_destroy(&q->notEmpty);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

static void copyTile(Tile *to, const Tile *from)
{
    to->index = from->index;
    to->pass = from->pass;
    memcpy(to->pixels, from->pixels, sizeof(to->pixels));
}

void queuePut(TileQueue *q, const Tile *tile)
{
    pthread_mutex_lock(&q->lock);
    while (q->used == QUEUE_DEPTH)
        pthread_cond_wait(&q->notFull, &q->lock);
    copyTile(&q->slots[(q->head + q->used) % QUEUE_DEPTH], tile);
    q->used++;
    pthread_cond_signal(&q->notEmpty);
    pthread_mutex_unlock(&q->lock);
}

bool queueTake(TileQueue *q, Tile *tile)
{
    bool got = false;

    pthread_mutex_lock(&q->lock);
    while (q->used == 0 && !q->closed)
        pthread_cond_wait(&q->notEmpty, &q->lock);
    if (q->used > 0) {
        copyTile(tile, &q->slots[q->head]);
        q->head = (q->head + 1) % QUEUE_DEPTH;
        q->used--;
        got = true;
        pthread_cond_signal(&q->notFull);
    }
    pthread_mutex_unlock(&q->lock);
    return got;
}

void queueClose(TileQueue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->notEmpty);
    pthread_mutex_unlock(&q->lock);
}

void queueAccount(TileQueue *q, uint32_t bytes)
{
    q->encoded++;
    q->digest = q->digest * 31 + bytes;
    if (bytes > 2 * sizeof(Tile))
        q->overruns++;
}

uint64_t queueDigest(const TileQueue *q)
{
    return q->digest ^ q->encoded;
}
