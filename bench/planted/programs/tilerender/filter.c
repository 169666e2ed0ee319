#include <pthread.h>

#include "tiler.h"

static uint32_t toneMap(uint32_t v)
{
    return v - (v >> 3);
}

static uint32_t deltaCode(uint32_t v)
{
    return (v << 1) ^ (v >> 7);
}

static uint32_t ditherBits(uint32_t v)
{
    return v ^ 0x55;
}

static Filter filters[NUM_FILTERS] __attribute__((aligned(64))) = {
    [FILTER_TONE]   = { "tone", toneMap, 0, 0 },
    [FILTER_DELTA]  = { "delta", deltaCode, 0, 0 },
    [FILTER_DITHER] = { "dither", ditherBits, 0, 0 },
};

uint32_t filterRun(int which, uint32_t value)
{
    Filter  *f = &filters[which];
    uint32_t out = f->apply(value);

    atomic_fetch_add_explicit(&f->calls, 1, memory_order_relaxed);
    if (out > 0x3ffffff)
        f->clipped++;
    return out;
}

uint64_t filterCalls(int which)
{
    return atomic_load(&filters[which].calls);
}

/* The table is built by two threads, before anything is rendered. */
static struct {
    uint8_t *table;
    int      exposure;
    uint64_t lowDone;
    uint64_t highDone;
} gammaWork;

static void *gammaLow(void *arg)
{
    (void)arg;
    for (int i = 0; i < 128; i++) {
        gammaWork.table[i] = (uint8_t)(i + (i * gammaWork.exposure) / 64);
        gammaWork.lowDone++;
    }
    return NULL;
}

static void *gammaHigh(void *arg)
{
    (void)arg;
    for (int i = 128; i < 256; i++) {
        gammaWork.table[i] = (uint8_t)(i - (i * gammaWork.exposure) / 255);
        gammaWork.highDone++;
    }
    return NULL;
}

void gammaBuild(uint8_t *table, int exposure)
{
    pthread_t t;

    gammaWork.table = table;
    gammaWork.exposure = exposure;
    if (pthread_create(&t, NULL, gammaLow, NULL) == 0)
        pthread_join(t, NULL);
    if (pthread_create(&t, NULL, gammaHigh, NULL) == 0)
        pthread_join(t, NULL);
}
