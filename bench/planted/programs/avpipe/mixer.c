#include "pipeline.h"

int mixer_apply(const mixer *m, int sample)
{
    int v = ((sample - 128) * m->gain >> 8) + 128 + m->bias;

    return v < 0 ? 0 : v > 255 ? 255 : v;
}

/* The user's hand: takes the lock each time it looks whether a change is due. */
void mixer_control(void *arg)
{
    pipeline *p = arg;
    mixer *m = p->mix;
    int asked = 0;

    while (!atomic_load_explicit(&pipeline_done, memory_order_acquire)) {
        thr_lock(&m->mu);
        control_polls++;
        if (asked && (control_polls & 4095) == 0) {
            m->gain = m->gain == 256 ? 240 : 256;
            m->changes++;
        }
        asked = m->muted == 0;
        thr_unlock(&m->mu);
        thr_relax();
    }
}
