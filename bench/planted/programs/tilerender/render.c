#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tiler.h"

WorkerStat       workerStat[MAX_WORKERS];
ShadeTotal       shadeTotal[MAX_WORKERS];
_Atomic uint16_t tileLuma[MAX_TILES];
_Alignas(64) atomic_int tilesDone;

Job *jobNew(int width, int height, int passes)
{
    Job     *job = aligned_alloc(64, 64);
    uint8_t *gamma = malloc(256);

    if (!job || !gamma)
        return NULL;
    memset(job, 0, sizeof(*job));
    job->width = width;
    job->height = height;
    job->tilesAcross = width / TILE_DIM;
    job->numTiles = job->tilesAcross * (height / TILE_DIM);
    job->passes = passes;
    job->exposure = 9;
    job->limit = job->numTiles * passes;
    gammaBuild(gamma, job->exposure);
    job->gamma = gamma;
    return job;
}

static void finishTile(int id, Tile *tile, uint32_t luma)
{
    WorkerStat *stat = &workerStat[id];

    stat->tiles++;
    stat->rays += TILE_PIXELS;
    if (tile->index < 0)
        stat->rejects++;
    shadeTotal[id].shaded += luma;
    spanAdd(id, luma);
}

static Pixel makePixel(const Job *job, uint32_t color, uint32_t texel)
{
    Pixel p;

    p.r = job->gamma[color & 0xff];
    p.g = job->gamma[(color >> 8) & 0xff];
    p.b = (uint8_t)(texel + (uint32_t)job->exposure);
    p.a = 255;
    return p;
}

static void renderTile(const Job *job, int id, Tile *tile)
{
    int      across = job->tilesAcross;
    int      x0 = (tile->index % across) * TILE_DIM;
    int      y0 = (tile->index / across) * TILE_DIM;
    uint32_t total = 0;
    Texture *tex = textureAcquire(tile->index + tile->pass);

    for (int y = 0; y < TILE_DIM; y++)
        for (int x = 0; x < TILE_DIM; x++) {
            uint32_t noise = samplerNext();
            uint32_t color = shadeRay(x0 + x, y0 + y, noise);
            uint32_t texel = textureSample(tex, x0 + x, y0 + y);
            Pixel    p = makePixel(job, filterRun(FILTER_TONE, color), texel);

            tile->pixels[y * TILE_DIM + x] = p;
            total += p.r + p.g;
        }
    textureRelease(tex);
    atomic_fetch_add_explicit(&tileLuma[tile->index], (uint16_t)total, memory_order_relaxed);
    finishTile(id, tile, total);
}

void renderMain(int id, void *context)
{
    RenderContext *ctx = context;
    Job           *job = ctx->job;
    Tile           tile;

    samplerBind(id);
    for (;;) {
        int n = atomic_fetch_add(&job->cursor, 1);

        if (n >= job->limit)
            break;
        tile.index = n % job->numTiles;
        tile.pass = n / job->numTiles;
        poolMark(id, true);
        renderTile(job, id, &tile);
        poolMark(id, false);
        queuePut(ctx->queue, &tile);
        atomic_fetch_add(&tilesDone, 1);
        if (tile.pass > job->passes)
            job->aborted++;
        if ((n & 3) == 3)
            sched_yield();
    }
}
