#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tiler.h"

typedef struct {
    Session   *session;
    TileQueue *queue;
    Job       *job;
    int        workers;
} Services;

static atomic_bool encoderDone __attribute__((aligned(64)));

static uint32_t encodeTile(Session *s, const Tile *tile)
{
    uint32_t bytes = 0;
    uint32_t prev = 0;
    uint32_t sum = 1;

    for (int i = 0; i < TILE_PIXELS; i++) {
        const Pixel *p = &tile->pixels[i];
        uint32_t     v = p->r | ((uint32_t)p->g << 8) | ((uint32_t)p->b << 16);
        uint32_t     d = filterRun(FILTER_DELTA, v ^ prev);

        prev = v;
        bytes += d < 256 ? 1 : d < 65536 ? 2 : 3;
        sum = (sum + d) % 65521;
    }
    s->bytesOut += bytes;
    s->adler = s->adler * 33 + sum;
    if (bytes > TILE_PIXELS * 2)
        s->literalRuns++;
    return bytes;
}

static void *encoderMain(void *arg)
{
    Services *sv = arg;
    Tile      tile;

    while (queueTake(sv->queue, &tile))
        queueAccount(sv->queue, encodeTile(sv->session, &tile));
    atomic_store(&encoderDone, true);
    return NULL;
}

static void *monitorMain(void *arg)
{
    Services *sv = arg;
    Session  *s = sv->session;
    int       idle = 0;

    while (!atomic_load(&encoderDone)) {
        uint64_t seen = (uint64_t)atomic_load(&tilesDone);

        s->polls++;
        if (seen == s->lastSeen && !poolBusy(sv->workers))
            idle++;
        else
            idle = 0;
        if (idle > 100000)
            s->stallCount++;
        s->lastSeen = seen;
        if (!s->quiet && (s->polls & 0xffff) == 0)
            fprintf(stderr, "%llu of %d tiles\n", (unsigned long long)seen, sv->job->limit);
        sched_yield();
    }
    return NULL;
}

static void usage(void)
{
    fprintf(stderr, "usage: tiler [-v] [-p passes] [-t threads] [-d dimension]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    Session __attribute__((aligned(64))) session = { .quiet = true, .adler = 1 };
    int      passes = 2000, workers = 3, dim = 32, c;

    while ((c = getopt(argc, argv, "p:t:d:v")) != -1) {
        switch (c) {
        case 'p':
            passes = atoi(optarg);
            break;
        case 't':
            workers = atoi(optarg);
            break;
        case 'd':
            dim = atoi(optarg) & ~(TILE_DIM - 1);
            break;
        case 'v':
            session.quiet = false;
            break;
        default:
            usage();
        }
    }
    if (workers < 1 || workers > MAX_WORKERS || passes < 1 || dim < 8 || dim > 64)
        usage();

    sceneInit(workers);
    samplersInit(workers);

    Job       *job = jobNew(dim, dim, passes);
    TileQueue *queue = queueNew();

    if (!job || !queue) {
        fprintf(stderr, "tiler: out of memory\n");
        return 1;
    }

    RenderContext render = { job, queue };
    Services      services = { &session, queue, job, workers };
    pthread_t     encoder, monitor;

    if (pthread_create(&encoder, NULL, encoderMain, &services) != 0 ||
        pthread_create(&monitor, NULL, monitorMain, &services) != 0) {
        perror("pthread_create");
        return 1;
    }

    Pool *pool = poolStart(workers, renderMain, &render);

    if (!pool)
        return 1;
    poolJoin(pool);
    queueClose(queue);
    pthread_join(encoder, NULL);
    pthread_join(monitor, NULL);

    uint64_t luma = 0;

    for (int i = 0; i < job->numTiles; i++)
        luma += tileLuma[i];
    printf("tiles %d rays %llu objects %d luma %llu\n", atomic_load(&tilesDone),
           (unsigned long long)sceneRays(), sceneObjects(), (unsigned long long)luma);
    printf("bytes %llu runs %u adler %08x polls %s stalls %d\n",
           (unsigned long long)session.bytesOut, session.literalRuns, session.adler,
           session.polls ? "some" : "none", session.stallCount);
    printf("digest %llx spans %llx samples %llx filters %llu/%llu\n",
           (unsigned long long)queueDigest(queue), (unsigned long long)spanTotal(),
           (unsigned long long)samplersDigest(), (unsigned long long)filterCalls(FILTER_TONE),
           (unsigned long long)filterCalls(FILTER_DELTA));
    for (int i = 0; i < workers; i++)
        printf("worker %d: tiles %s shaded %s\n", i, workerStat[i].tiles ? "yes" : "no",
               shadeTotal[i].shaded ? "yes" : "no");
    queueFree(queue);
    samplersFree();
    sceneFree();
    free((void *)job->gamma);
    free(job);
    return 0;
}
