/* the encoder: opening, the frame threads, closing */
#include "venc.h"
#include <sched.h>

/* Waits until a counter of another thread has got to a value. */
int venc_wait(const int *counter, int value, int *waits)
{
    int spins = 0;

    while (venc_load(counter) < value) {
        if (b_ctrl_c)
            return -1;
        if (++spins > 10) {
            ++*waits;
            sched_yield();
            spins = 0;
        }
    }
    return 0;
}

static int encode_row(venc_t *h, vthread_t *t, int my)
{
    int bits = 0;

    for (int mx = 0; mx < MB_W; mx++) {
        /* the reference has to be ahead by a row and a bit */
        if (t->p_ref && venc_wait(&t->p_ref->i_mb_done, X_MIN(MB_N, (my + 1) * MB_W + mx + 2), &t->i_waits))
            return -1;
        bits += analyse_mb(h, t, mx, my);
        venc_store(&t->p_cur->i_mb_done, my * MB_W + mx + 1);
    }
    return bits;
}

void *venc_thread_main(void *arg)
{
    vthread_t *t = arg;
    venc_t *h = t->h;

    for (int n = t->i_id; n < h->param.i_frames; n += h->param.i_threads) {
        if (venc_wait(&h->i_frames_ready, n + 1, &t->i_waits))
            break;
        t->p_cur = h->frames[n % FRAMES];
        t->p_ref = t->p_cur->i_type == TYPE_I ? NULL : h->frames[(n + FRAMES - 1) % FRAMES];
        for (int my = 0; my < MB_H; my++) {
            int bits = encode_row(h, t, my);

            if (bits < 0)
                goto out;
            mux_put(&h->queues[t->i_id], n, my, bits);
        }
        cabac_flush(t->p_cabac);
        rc_frame_end(h->rc, t->p_cur);
        venc_wait(&h->i_frames_out, n, &t->i_waits);
        venc_store(&h->i_frames_out, n + 1);
    }
out:
    __atomic_sub_fetch(&h->i_threads_left, 1, __ATOMIC_ACQ_REL);
    return NULL;
}

venc_t *venc_open(const venc_param_t *p)
{
    venc_t *h;

    if (p->i_qp_min > p->i_qp_max || p->i_frames < 1) {
        venc_log(VENC_LOG_ERROR, "bad parameters: qp %d..%d, %d frames\n", p->i_qp_min, p->i_qp_max, p->i_frames);
        return NULL;
    }
    CHECKED_MALLOC(h, sizeof(*h));
    h->param = *p;
    venc_log_level = p->i_log_level;
    dsp_init("c");
    if (!(h->rc = rc_new(p)))
        goto fail;
    for (int i = 0; i < FRAMES; i++)
        if (!(h->frames[i] = frame_new()))
            goto fail;
    CHECKED_MALLOC(h->queues, p->i_threads * sizeof(pktqueue_t));
    for (int i = 0; i < p->i_threads; i++) {
        vthread_t *t;

        CHECKED_MALLOC(t, sizeof(*t));
        t->h = h;
        t->i_id = i;
        h->threads[i] = t;
    }
    for (int i = 0; i < p->i_threads; i++) {
        CHECKED_MALLOC(h->threads[i]->p_cabac, sizeof(cabac_t));
        h->threads[i]->p_cabac->i_range = 0x1fe;
    }
    for (int i = 0; i < p->i_threads; i++)
        CHECKED_MALLOC(h->threads[i]->p_cabac->p_out, 512);
    h->i_threads_left = p->i_threads;
    h->i_speed = 1;
    return h;
fail:
    venc_log(VENC_LOG_ERROR, "cannot open the encoder\n");
    return NULL;
}

void venc_close(venc_t *h)
{
    for (int i = 0; i < h->param.i_threads; i++) {
        mbstat_t *s = &mb_stats[i];

        venc_log(VENC_LOG_INFO, "thread %d: I %u P %u skip %u, %u bits, nr %u, %d waits\n", i, s->i_mb[TYPE_I], s->i_mb[TYPE_P],
                 s->i_mb[TYPE_SKIP], s->i_bits_mb, nr_residual_sum[i][0] / (nr_count[i] + 1), h->threads[i]->i_waits);
        venc_log(VENC_LOG_DEBUG, "thread %d: ssd %llu in %u blocks, worst %u\n", i, (unsigned long long)distortion[i].i_ssd,
                 distortion[i].i_ssd_blocks, distortion[i].i_ssd_worst);
        free(h->threads[i]->p_cabac->p_out);
        free(h->threads[i]->p_cabac);
        free(h->threads[i]);
    }
    venc_log(VENC_LOG_INFO, "qp %d, %d overshoots, lookahead cost %d, %d polls\n", h->rc->i_qp_base, h->rc->i_overshoots,
             h->i_la_cost, h->i_polls);
    for (int i = 0; i < FRAMES; i++)
        frame_delete(h->frames[i]);
    pthread_mutex_destroy(&h->rc->mutex);
    free(h->rc);
    free(h->queues);
    free(h);
}
