/* the lookahead (source and adaptive quantisation) and the speed controller */
#include "venc.h"
#include <unistd.h>

static int i_aq_strength = 3;
static uint32_t i_scenecuts;
zone_t zones[4];
int i_zones;

static int zone_qp(int n)
{
    for (int i = 0; i < i_zones; i++)
        if (n >= zones[i].i_start && n < zones[i].i_end)
            return zones[i].i_qp_add;
    return 0;
}

static void analyse_frame(venc_t *h, vframe_t *f)
{
    uint32_t total = 0;
    int add = zone_qp(f->i_poc);

    for (int my = 0; my < MB_H; my++)
        for (int mx = 0; mx < MB_W; mx++) {
            const uint8_t *p = f->p_plane + my * MB * STRIDE + mx * MB;
            int v = abs(p[0] - p[3]) + abs(p[2 * STRIDE] - p[2 * STRIDE + 3]);

            f->p_aq[my * MB_W + mx] = (v > 12 ? i_aq_strength : 0) + add;
            total += v;
            h->i_la_cost += v;
        }
    if (total > f->i_satd * 4 && f->i_satd)
        i_scenecuts++;
    f->i_satd = total;
}

void *lookahead_main(void *arg)
{
    venc_t *h = arg;
    int waits = 0;

    for (int n = 0; n < h->param.i_frames && !b_ctrl_c; n++) {
        vframe_t *f = h->frames[n % FRAMES];

        /* the slot is free when the frame that refers to it has left */
        if (n >= FRAMES - 1)
            venc_wait(&h->i_frames_out, n - FRAMES + 2, &waits);
        frame_synthesize(f, n);
        f->i_poc = n;
        f->i_type = n % h->param.i_keyint ? TYPE_P : TYPE_I;
        f->i_mb_done = 0;
        analyse_frame(h, f);
        venc_store(&h->i_frames_ready, n + 1);
    }
    return NULL;
}

/* makes the search smaller when the encoder falls behind */
void *control_main(void *arg)
{
    venc_t *h = arg;

    while (venc_load(&h->i_threads_left) > 0) {
        int behind = venc_peek(&h->i_frames_ready) - venc_peek(&h->i_frames_out);

        h->i_polls++;
        venc_store(&h->i_speed, behind > FRAMES / 2 ? 2 : 1);
        usleep(30);
    }
    return NULL;
}
