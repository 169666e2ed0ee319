/* image tiler: a feeder cuts frames into tiles, renderers draw them */
#include "cache.h"
#include "deque.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RENDERERS 3
#define TILES_X 8
#define TILES_Y 8

typedef struct renderer {
    thrd_t thread;
    unsigned id;
    unsigned victim;
    unsigned long drawn;
    unsigned long pixels;
    uint32_t *scratch;       /* its own, 16 KiB */
} renderer;

typedef struct quality {
    int level;
    int dither;
    int tile_edge;
    int frames_cut;          /* feeder */
} quality_t;

typedef struct image {
    unsigned width, height;
    uint8_t *done;           /* a byte a tile: frame modulo 256 */
    uint32_t *histogram;     /* RENDERERS rows of 8 */
    unsigned long inspected; /* janitor */
    mtx_t palette_lock;
    uint32_t palette_next;
    uint32_t palette_gen;
} image;

static deque deques[RENDERERS];
static renderer renderers[RENDERERS];
static quality_t quality = { .level = 3, .dither = 1, .tile_edge = 4 };
static image *image_;
static lru *cache;
static atomic_int feeding = 1;
static atomic_int running = RENDERERS;
static long frames;
static unsigned long steals[RENDERERS];

static uint32_t shade(const page *p, uint32_t x, uint32_t y, int dither)
{
    uint32_t v = p->color + x * p->gradient;
    if (dither)
        v ^= (x * y) & 1;
    return v;
}

static void draw(renderer *r, const tile *t)
{
    int e = quality.tile_edge;
    page *p = lru_pin(cache, t->x + t->y + t->frame);
    uint32_t acc = 0;

    for (int y = 0; y < e; y++)
        for (int x = 0; x < e; x++) {
            uint32_t v = shade(p, t->x * e + x, t->y * e + y, quality.dither);
            r->scratch[(y * e + x) & 4095] = v;
            acc += v;
        }
    lru_unpin(p);
    r->drawn++;
    r->pixels += e * e;
    image_->done[t->y * TILES_X + t->x] = (uint8_t)t->frame;
    image_->histogram[r->id * 8 + (acc & 7)]++;
    if ((acc & 3) == 0) {
        mtx_lock(&image_->palette_lock);
        image_->palette_next++;
        mtx_unlock(&image_->palette_lock);
    }
}

static int renderer_main(void *arg)
{
    renderer *r = arg;
    tile t;

    for (;;) {
        if (deque_take(&deques[r->id], &t)) {
            draw(r, &t);
            continue;
        }
        r->victim = (r->victim + 1) % RENDERERS;
        if (r->victim != r->id && deque_take(&deques[r->victim], &t)) {
            steals[r->id]++;
            draw(r, &t);
            continue;
        }
        if (!atomic_load(&feeding))
            break;
        thrd_yield();
    }
    atomic_fetch_sub(&running, 1);
    return 0;
}

static int feeder_main(void *arg)
{
    unsigned to = 0;

    (void)arg;
    for (long f = 0; f < frames; f++) {
        quality.frames_cut++;
        for (uint16_t y = 0; y < TILES_Y; y++)
            for (uint16_t x = 0; x < TILES_X; x++) {
                tile t = { x, y, (uint32_t)f };
                while (!deque_push(&deques[to % RENDERERS], t)) {
                    to++;
                    thrd_yield();
                }
                to++;
            }
    }
    atomic_store(&feeding, 0);
    return 0;
}

static int janitor_main(void *arg)
{
    image *im = arg;

    while (atomic_load(&running)) {
        for (int i = 0; i < 8; i++) {
            lru_age(cache);
            im->inspected++;
        }
        thrd_yield();
    }
    return 0;
}

static void setup(void)
{
    image_ = aligned_alloc(64, 128);
    memset(image_, 0, sizeof *image_);
    image_->width = TILES_X * quality.tile_edge;
    image_->height = TILES_Y * quality.tile_edge;
    image_->done = aligned_alloc(64, TILES_X * TILES_Y);
    image_->histogram = aligned_alloc(64, 128);
    memset(image_->histogram, 0, 128);
    mtx_init(&image_->palette_lock, mtx_plain);
    cache = lru_new();
    for (unsigned i = 0; i < RENDERERS; i++) {
        deque_init(&deques[i]);
        renderers[i].id = i;
        renderers[i].victim = i;
        renderers[i].scratch = malloc(16384);
    }
}

/* after the threads are gone */
static unsigned long check(void)
{
    unsigned long n = 0;
    for (unsigned i = 0; i < RENDERERS * 8; i++)
        n += image_->histogram[i];
    image_->palette_gen++;
    return n;
}

int main(int argc, char **argv)
{
    thrd_t feeder, janitor;

    frames = argc > 1 ? atol(argv[1]) : 20000;
    setup();
#ifdef TRUTH_PROBE
    PROBE("J1.a", &deques[0].pushed);
    PROBE("J1.b", &deques[0].steal_lock);
    PROBE("J2.a", &deques[0].top);
    PROBE("J2.b", &deques[0].bottom);
    PROBE("J3.a", &deques[1].steal_lock);
    PROBE("J3.b", &deques[2].top);
    PROBE("J4.a", &renderers[0].drawn);
    PROBE("J4.b", &renderers[1].drawn);
    PROBE("J5.a", &quality.frames_cut);
    PROBE("J5.b", &quality.tile_edge);
    PROBE("J6.a", &image_->done[0]);
    PROBE("J6.b", &image_->done[1]);
    PROBE("J7.a", &image_->histogram[0]);
    PROBE("J7.b", &image_->histogram[8]);
    PROBE("J8.a", &image_->palette_lock);
    PROBE("J8.b", &image_->inspected);
    PROBE("J9.a", &cache->by_slot[0]->color);
    PROBE("J9.b", &cache->by_slot[0]->refs);
    PROBE("J10.a", &cache->aged);
    PROBE("J10.b", &cache->lookups);
#endif
    for (unsigned i = 0; i < RENDERERS; i++)
        thrd_create(&renderers[i].thread, renderer_main, &renderers[i]);
    thrd_create(&janitor, janitor_main, image_);
    thrd_create(&feeder, feeder_main, NULL);
    thrd_join(feeder, NULL);
    for (unsigned i = 0; i < RENDERERS; i++)
        thrd_join(renderers[i].thread, NULL);
    thrd_join(janitor, NULL);
    printf("tiles %lu inspected %lu aged %lu lookups %lu cut %d\n", check(), image_->inspected,
           (unsigned long)cache->aged, atomic_load(&cache->lookups), quality.frames_cut);
    for (unsigned i = 0; i < RENDERERS; i++) {
        printf("renderer %u: %lu tiles, %lu pixels, %lu steals of %ld\n", i, renderers[i].drawn, renderers[i].pixels,
               steals[i], deques[i].stolen);
        deque_free(&deques[i]);
        free(renderers[i].scratch);
    }
    lru_free(cache);
    free(image_->done);
    free(image_->histogram);
    free(image_);
    return 0;
}
