#include "venc.h"

ratecontrol_t *rc_new(const venc_param_t *p)
{
    ratecontrol_t *rc = calloc(1, sizeof(*rc));

    if (!rc)
        return NULL;
    if (pthread_mutex_init(&rc->mutex, NULL)) {
        free(rc);
        return NULL;
    }
    rc->i_qp_base = 20;
    rc->i_qp_lo = p->i_qp_min;
    rc->i_qp_hi = p->i_qp_max;
    rc->i_bits_target = p->i_bitrate / 25;
    return rc;
}

int rc_mb_qp(ratecontrol_t *rc, int aq)
{
    int qp = venc_peek(&rc->i_qp_base) + aq;

    return X_CLIP(qp, rc->i_qp_lo, rc->i_qp_hi);
}

void rc_mb_end(ratecontrol_t *rc, int bits)
{
    venc_add(&rc->i_bits_spent, bits);
}

/* called at the end of each frame, by the thread that has done it */
void rc_frame_end(ratecontrol_t *rc, vframe_t *f)
{
    pthread_mutex_lock(&rc->mutex);
    f->i_qp_frame = rc->i_qp_base;
    if (++rc->i_frames_rc % 10 == 0) {
        int spent = __atomic_exchange_n(&rc->i_bits_spent, 0, __ATOMIC_RELAXED);

        if (spent > rc->i_bits_target * 10) {
            rc->i_overshoots++;
            rc->i_qp_base = X_MIN(rc->i_qp_base + 1, rc->i_qp_hi);
        } else
            rc->i_qp_base = X_MAX(rc->i_qp_base - 1, rc->i_qp_lo);
    }
    pthread_mutex_unlock(&rc->mutex);
}
