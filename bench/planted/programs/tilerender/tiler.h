/*
 * tiler - renders a small scene tile by tile, in several passes.
 *
 * Render threads take tiles from the job and hand them to the encoder, which
 * compresses them; a monitor thread reports progress.
 */
#ifndef TILER_H
#define TILER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TILE_DIM      4
#define TILE_PIXELS   (TILE_DIM * TILE_DIM)
#define MAX_WORKERS   8
#define MAX_TILES     256
#define QUEUE_DEPTH   16
#define NUM_TEXTURES  4

typedef struct {
    uint8_t r, g, b, a;
} Pixel;

typedef struct {
    int   index;
    int   pass;
    Pixel pixels[TILE_PIXELS];
} Tile;

/* What is to be rendered. */
typedef struct {
    int         width;
    int         height;
    int         tilesAcross;
    int         numTiles;
    int         passes;
    int         exposure;
    atomic_int  cursor;
    int         limit;
    const uint8_t *gamma;
    uint64_t    aborted;
} Job;

/* Textures are shared and counted. */
typedef struct {
    atomic_int     refs;
    int            mask;
    const uint8_t *texels;
    uint32_t       tint;
} Texture;

/* Per-thread ray tallies. */
typedef struct {
    uint64_t tiles;
    uint64_t rays;
    uint64_t rejects;
} WorkerStat;

/* Random numbers and jitter of one render thread. */
typedef struct {
    uint32_t state;
    uint32_t draws;
    int32_t  jitterX;
    int32_t  jitterY;
    uint64_t history;
    uint32_t owner;
    uint32_t reseeds;
} Sampler;

/* Sums over the spans of one render thread. */
typedef struct {
    uint64_t sum;
    uint64_t spans;
    uint64_t reserved[5];
    uint64_t lastSpan;
} SpanSum;

/* Aligned totals of one render thread. */
typedef struct {
    uint64_t shaded;
    uint64_t shadows;
} __attribute__((aligned(64))) ShadeTotal;

typedef struct {
    const char *name;
    uint32_t  (*apply)(uint32_t value);
    atomic_ulong calls;
    uint64_t    clipped;
} Filter;

enum { FILTER_TONE, FILTER_DELTA, FILTER_DITHER, NUM_FILTERS };

/* Shared by encoder, monitor and main. */
typedef struct {
    uint64_t bytesOut;
    uint32_t literalRuns;
    uint32_t adler;
    uint64_t polls;
    uint64_t lastSeen;
    int      stallCount;
    bool     quiet;
} Session;

typedef struct TileQueue TileQueue;
typedef struct Pool Pool;
typedef void (*PoolMain)(int id, void *context);

/* scene.c */
void     sceneInit(int numWorkers);
void     sceneFree(void);
Texture *textureAcquire(int index);
void     textureRelease(Texture *tex);
uint32_t textureSample(const Texture *tex, int u, int v);
uint32_t shadeRay(int x, int y, uint32_t noise);
uint64_t sceneRays(void);
int      sceneObjects(void);

/* sampler.c */
void     samplersInit(int numWorkers);
void     samplersFree(void);
void     samplerBind(int worker);
uint32_t samplerNext(void);
uint64_t samplersDigest(void);
void     spanAdd(int worker, uint32_t value);
uint64_t spanTotal(void);

/* queue.c */
TileQueue *queueNew(void);
void       queueFree(TileQueue *queue);
void       queuePut(TileQueue *queue, const Tile *tile);
bool       queueTake(TileQueue *queue, Tile *tile);
void       queueClose(TileQueue *queue);
void       queueAccount(TileQueue *queue, uint32_t bytes);
uint64_t   queueDigest(const TileQueue *queue);

/* filter.c */
uint32_t filterRun(int which, uint32_t value);
uint64_t filterCalls(int which);
void     gammaBuild(uint8_t *table, int exposure);

/* pool.c */
Pool *poolStart(int numWorkers, PoolMain body, void *context);
void  poolJoin(Pool *pool);
bool  poolBusy(int numWorkers);
void  poolMark(int id, bool busy);

/* render.c */
typedef struct {
    Job       *job;
    TileQueue *queue;
} RenderContext;

extern WorkerStat       workerStat[MAX_WORKERS];
extern ShadeTotal       shadeTotal[MAX_WORKERS];
extern _Atomic uint16_t tileLuma[MAX_TILES];
extern _Alignas(64) atomic_int tilesDone;

Job *jobNew(int width, int height, int passes);
void renderMain(int id, void *context);

#endif
