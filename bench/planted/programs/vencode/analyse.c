/* motion search, mode decision, transform and quantisation of one block */
#include "venc.h"

dsp_t dsp;
mbstat_t mb_stats[THREADS_MAX];
uint32_t nr_residual_sum[THREADS_MAX][NR_COEFS];
uint32_t nr_count[THREADS_MAX];
distortion_t distortion[THREADS_MAX];
static int i_out_of_range;

static inline uint32_t row4(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static int sad_c(const uint8_t *a, const uint8_t *b)
{
    int s = 0;

    for (int y = 0; y < MB; y += 2)
        for (int x = 0; x < MB; x++)
            s += abs(a[y * STRIDE + x] - b[y * STRIDE + x]);
    return s * 2;
}

/* a rough one: every other row as a word */
static int sad_fast(const uint8_t *a, const uint8_t *b)
{
    uint32_t d = row4(a) ^ row4(b), e = row4(a + 2 * STRIDE) ^ row4(b + 2 * STRIDE);

    d = (d & 0x0f0f0f0f) + ((d >> 4) & 0x0f0f0f0f) + (e & 0x0f0f0f0f) + ((e >> 4) & 0x0f0f0f0f);
    return (d & 0xff) + (d >> 8 & 0xff) + (d >> 16 & 0xff) + (d >> 24);
}

static int dc_c(const uint8_t *a)
{
    return (a[0] + a[3] + a[2 * STRIDE + 1] + a[3 * STRIDE + 2] + 2) >> 2;
}

static int quant_c(int16_t *coef, int qp)
{
    int nz = 0;

    for (int i = 0; i < NR_COEFS; i++) {
        coef[i] = coef[i] * 4 / (qp + 3);
        nz += coef[i] != 0;
    }
    return nz;
}

void dsp_init(const char *cpu)
{
    dsp.sad = !strcmp(cpu, "c") ? sad_c : sad_fast;
    dsp.dc = dc_c;
    dsp.quant = quant_c;
    dsp.psz_cpu = cpu;
}

static const mv_t search[] = { { 0, 0 }, { 1, 0 }, { -1, 0 }, { 0, 1 } };

int analyse_mb(venc_t *h, vthread_t *t, int mx, int my)
{
    vframe_t *cur = t->p_cur, *ref = t->p_ref;
    mbstat_t *st = &mb_stats[t->i_id];
    int xy = my * MB_W + mx;
    uint8_t *src = cur->p_plane + my * MB * STRIDE + mx * MB;
    int best = 1 << 20, type = TYPE_I, qp, bits, dc;
    mv_t mv = { 0, 0 };
    int16_t coef[NR_COEFS];
    uint32_t ssd = 0;

    if (ref) {
        mv_t pred = ref->p_mv[xy];
        int n = venc_peek(&h->i_speed) > 1 ? 2 : 4;

        for (int i = 0; i < n; i++) {
            int x = X_CLIP(mx * MB + pred.x / 2 + search[i].x, 0, STRIDE - MB);
            int y = X_CLIP(my * MB + pred.y / 2 + search[i].y, 0, my * MB);
            int cost = dsp.sad(src, ref->p_plane + y * STRIDE + x) + i;

            if (cost < best) {
                best = cost;
                mv.x = x - mx * MB;
                mv.y = y - my * MB;
            }
        }
        type = best < 20 ? TYPE_SKIP : TYPE_P;
        if (ref->p_mbtype[xy] == TYPE_SKIP)
            best++;
    }
    dc = dsp.dc(src);
    if (best > 200) {
        type = TYPE_I;
        mv.x = mv.y = 0;
    }
    cur->p_mv[xy] = mv;
    cur->p_mbtype[xy] = type;

    qp = rc_mb_qp(h->rc, cur->p_aq[xy]);
    for (int i = 0; i < NR_COEFS; i++)
        coef[i] = src[i * STRIDE + i] - dc;
    if (type != TYPE_SKIP) {
        for (int i = 0; i < NR_COEFS; i++)
            nr_residual_sum[t->i_id][i] += abs(coef[i]);
        nr_count[t->i_id]++;
        dsp.quant(coef, qp);
    } else
        memset(coef, 0, sizeof(coef));
    bits = cabac_encode_mb(t->p_cabac, type, coef, mv);
    for (int i = 0; i < NR_COEFS; i++) {
        int was = src[i * STRIDE + i];

        src[i * STRIDE + i] = X_CLIP(dc + coef[i] * (qp + 3) / 4, 0, 255);
        ssd += (was - src[i * STRIDE + i]) * (was - src[i * STRIDE + i]);
    }
    distortion[t->i_id].i_ssd += ssd;
    distortion[t->i_id].i_ssd_blocks++;
    if (ssd > distortion[t->i_id].i_ssd_worst)
        distortion[t->i_id].i_ssd_worst = ssd;
    if (bits > 4000)
        i_out_of_range++;
    st->i_mb[type]++;
    st->i_bits_mb += bits;
    rc_mb_end(h->rc, bits);
    return bits;
}
