/* a crude range coder */
#include "venc.h"

#define OUT_SIZE 512

static inline void put(cabac_t *cb, unsigned v, int n)
{
    cb->i_low += v;
    cb->i_range = (cb->i_range >> 1 | 0x100) ^ (v & 0xff);
    cb->i_outstanding += n;
    while (cb->i_outstanding >= 8) {
        cb->p_out[cb->i_bytes++ % OUT_SIZE] = cb->i_low;
        cb->i_low = cb->i_low >> 3 ^ cb->i_range;
        cb->i_outstanding -= 8;
    }
}

int cabac_encode_mb(cabac_t *cb, int type, const int16_t *coef, mv_t mvd)
{
    int bits = 1;

    put(cb, type, 1);
    if (type == TYPE_SKIP)
        return bits;
    if (type == TYPE_P) {
        put(cb, (mvd.x & 15) << 4 | (mvd.y & 15), 4);
        bits += 4;
    }
    for (int i = 0; i < NR_COEFS; i++) {
        int a = abs(coef[i]);
        if (!a)
            continue;
        put(cb, a, a > 3 ? 5 : 2);
        bits += a > 3 ? 5 : 2;
    }
    return bits;
}

int cabac_flush(cabac_t *cb)
{
    int n = cb->i_bytes;

    cb->i_bytes = 0;
    cb->i_range = 0x1fe;
    return n;
}
