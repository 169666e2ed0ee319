#include "pipeline.h"

#include <stdio.h>

static unsigned dropped;

static void trace(const char *what, const frame *f)
{
    if (trace_level > 3)
        fprintf(stderr, "%s: pts %lld\n", what, (long long)f->pts);
}

static void peak(int *at, int sample)
{
    *at = sample > *at ? sample : (*at * 15 + sample) / 16;
}

void stage_source(pipeline *p, stage *s)
{
    unsigned seed = 12345;

    for (int64_t pts = 0; pts < p->nframes; pts++) {
        frame *f = frame_get(p->pool);

        f->pts = pts * 40;
        f->flags = pts % 12 == 0;
        for (int i = 0; i < FRAME_W * FRAME_H; i++) {
            seed = seed * 1103515245u + 12345u;
            f->data[i] = (uint8_t)(seed >> 16);
        }
        trace("source", f);
        s->frames++;
        s->checksum += f->data[0];
        bqueue_put(p->stages[ST_FILTER].in, f);
    }
    bqueue_put(p->stages[ST_FILTER].in, NULL);
}

/* Gives each frame on twice: to the encoder and to the preview. */
void stage_filter(pipeline *p, stage *s)
{
    frame *f;

    while ((f = bqueue_take(s->in))) {
        trace("filter", f);
        for (int y = 0; y < f->height; y++) {
            uint8_t *row = f->data + y * f->stride;

            for (int x = 0; x < f->width; x += 2)
                row[x] = (uint8_t)mixer_apply(p->mix, row[x]);
            peak(&p->peaks[ST_FILTER], row[0]);
        }
        s->frames++;
        s->checksum += f->data[1];
        frame_ref(f);
        bqueue_put(p->stages[ST_ENCODE].in, f);
        bqueue_put(p->stages[ST_PREVIEW].in, f);
    }
    bqueue_put(p->stages[ST_ENCODE].in, NULL);
    bqueue_put(p->stages[ST_PREVIEW].in, NULL);
}

void stage_encode(pipeline *p, stage *s)
{
    frame *f;

    while ((f = bqueue_take(s->in))) {
        uint32_t crc = 0xffffffffu;

        trace("encode", f);
        for (int y = 0; y < f->height; y++) {
            for (int x = 0; x < f->width; x++)
                crc = (crc >> 1) ^ (f->data[y * f->stride + x] * 0x04c11db7u);
            peak(&p->peaks[ST_ENCODE], (int)(crc & 255));
        }
        trace_seq++;
        s->frames++;
        s->checksum += crc & 0xff;
        master_clock.encode_pts = f->pts;
        if (f->pts < 0)
            dropped++;
        frame_unref(p->pool, f);
    }
}

void stage_preview(pipeline *p, stage *s)
{
    frame *f;

    while ((f = bqueue_take(s->in))) {
        long sum = 0;

        trace("preview", f);
        for (int y = 0; y < f->height; y += 2) {
            for (int x = 0; x < f->width; x += 2)
                sum += f->data[y * f->stride + x];
            peak(&p->peaks[ST_PREVIEW], (int)(sum & 255));
        }
        s->frames++;
        s->checksum += sum;
        master_clock.preview_pts = f->pts;
        frame_unref(p->pool, f);
    }
}
