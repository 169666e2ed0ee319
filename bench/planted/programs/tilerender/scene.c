#include <stdlib.h>

#include "tiler.h"

typedef struct {
    int32_t x, y;
    int32_t radius2;
    uint32_t color;
} Disc;

static Disc         *discs;
static int           numDiscs;
static atomic_ulong  raysCast;
static uint32_t      skyColor;

static Texture *textures;
static uint8_t  texelData[NUM_TEXTURES][64];

static uint32_t mixColors(uint32_t a, uint32_t b, uint32_t t)
{
    uint32_t r = (a & 0xff) * t + (b & 0xff) * (256 - t);
    uint32_t g = ((a >> 8) & 0xff) * t + ((b >> 8) & 0xff) * (256 - t);

    return ((r >> 8) & 0xff) | (g & 0xff00);
}

void sceneInit(int numWorkers)
{
    uint32_t seed = 17;

    (void)numWorkers;
    numDiscs = 6;
    discs = aligned_alloc(64, 128);
    textures = aligned_alloc(64, NUM_TEXTURES * sizeof(Texture) + 32);
    if (!discs || !textures)
        abort();
    for (int i = 0; i < numDiscs; i++) {
        seed = seed * 1103515245u + 12345u;
        discs[i].x = (seed >> 16) & 31;
        discs[i].y = (seed >> 21) & 31;
        discs[i].radius2 = 9 + (int)((seed >> 10) & 63);
        discs[i].color = seed & 0xffff;
    }
    skyColor = 0x80c0;
    for (int t = 0; t < NUM_TEXTURES; t++) {
        for (int i = 0; i < 64; i++)
            texelData[t][i] = (uint8_t)(i * (t + 3));
        atomic_init(&textures[t].refs, 1);
        textures[t].mask = 7;
        textures[t].texels = texelData[t];
        textures[t].tint = 0x11u * (uint32_t)t;
    }
}

void sceneFree(void)
{
    free(discs);
    free(textures);
}

int sceneObjects(void)
{
    return numDiscs;
}

Texture *textureAcquire(int index)
{
    Texture *tex = &textures[index & (NUM_TEXTURES - 1)];

    atomic_fetch_add(&tex->refs, 1);
    return tex;
}

void textureRelease(Texture *tex)
{
    atomic_fetch_sub(&tex->refs, 1);
}

uint32_t textureSample(const Texture *tex, int u, int v)
{
    int            mask = tex->mask;
    const uint8_t *row = tex->texels + ((v & mask) << 3);

    return row[u & mask] + tex->tint;
}

uint32_t shadeRay(int x, int y, uint32_t noise)
{
    uint32_t color = skyColor;
    int      count = numDiscs;

    atomic_fetch_add_explicit(&raysCast, 1, memory_order_relaxed);
    for (int i = 0; i < count; i++) {
        const Disc *d = &discs[i];
        int         dx = x - d->x;
        int         dy = y - d->y;

        if (dx * dx + dy * dy < d->radius2)
            color = mixColors(color, d->color, 128 + (noise & 63));
    }
    return color;
}

uint64_t sceneRays(void)
{
    return atomic_load(&raysCast);
}
