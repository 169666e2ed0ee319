#include <stdlib.h>

#include "tiler.h"

#define SPAN_TABLE  4096

static Sampler *samplers;
static SpanSum *spanSums;
static int      samplerCount;

static _Thread_local Sampler *mySampler;
static _Thread_local uint32_t myDraws;

void samplersInit(int numWorkers)
{
    samplerCount = numWorkers;
    samplers = calloc((size_t)numWorkers, sizeof(Sampler));
    spanSums = calloc(SPAN_TABLE, sizeof(SpanSum));
    if (!samplers || !spanSums)
        abort();
    for (int i = 0; i < numWorkers; i++) {
        samplers[i].state = 77u + (uint32_t)i;
        samplers[i].owner = (uint32_t)i;
    }
}

void samplersFree(void)
{
    free(samplers);
    free(spanSums);
}

void samplerBind(int worker)
{
    mySampler = &samplers[worker];
    myDraws = 0;
}

uint32_t samplerNext(void)
{
    Sampler *s = mySampler;

    s->state = s->state * 1664525u + 1013904223u;
    s->draws++;
    s->jitterX = (int32_t)(s->state >> 28) - 8;
    s->jitterY = (int32_t)((s->state >> 24) & 15) - 8;
    s->history = (s->history << 4) | (s->state >> 28);
    if (++myDraws == 0)
        s->reseeds++;
    return s->state >> 8;
}

uint64_t samplersDigest(void)
{
    uint64_t d = 0;

    for (int i = 0; i < samplerCount; i++)
        d ^= samplers[i].history + samplers[i].draws;
    return d;
}

void spanAdd(int worker, uint32_t value)
{
    SpanSum *s = &spanSums[worker];

    s->sum += value;
    s->spans++;
    s->lastSpan = value;
}

uint64_t spanTotal(void)
{
    uint64_t total = 0;

    for (int i = 0; i < samplerCount; i++)
        total += spanSums[i].sum + spanSums[i].spans;
    return total;
}
