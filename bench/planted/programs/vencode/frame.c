/* pictures */
#include "venc.h"

vframe_t *frame_new(void)
{
    vframe_t *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    CHECKED_MALLOC(f->p_plane, STRIDE * MB_H * MB);
    CHECKED_MALLOC(f->p_mv, MB_N * sizeof(mv_t));
    CHECKED_MALLOC(f->p_aq, MB_N);
    CHECKED_MALLOC(f->p_mbtype, MB_N);
    f->i_poc = -1;
    return f;
fail:
    frame_delete(f);
    return NULL;
}

void frame_delete(vframe_t *f)
{
    if (!f)
        return;
    free(f->p_plane);
    free(f->p_mv);
    free(f->p_aq);
    free(f->p_mbtype);
    free(f);
}

/* The test source: gradients that move, and a little noise. */
void frame_synthesize(vframe_t *f, int poc)
{
    uint32_t n = poc * 2654435761u + 1;

    for (int y = 0; y < MB_H * MB; y++)
        for (int x = 0; x < STRIDE; x += 4) {
            uint32_t v = ((x + poc) * 3 + y * 5) & 0x7f;
            n = n * 1664525 + 1013904223;
            v = v * 0x01010101u + (n >> 7 & 0x03030303u);
            memcpy(f->p_plane + y * STRIDE + x, &v, 4);
        }
}
