/*****************************************************************************
 * venc.h: a thumbnail strip encoder with frame threads
 *****************************************************************************/
#ifndef VENC_H
#define VENC_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MB          4                    /* block size */
#define MB_W        16
#define MB_H        8
#define MB_N        (MB_W * MB_H)
#define STRIDE      (MB_W * MB)
#define FRAMES      8                    /* frames in flight */
#define THREADS_MAX 4
#define PKT_QUEUE   16
#define NR_COEFS    4

#define X_MIN(a, b) ((a) < (b) ? (a) : (b))
#define X_MAX(a, b) ((a) > (b) ? (a) : (b))
#define X_CLIP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))

#define venc_load(p)     __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define venc_peek(p)     __atomic_load_n((p), __ATOMIC_RELAXED)
#define venc_store(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define venc_add(p, v)   __atomic_add_fetch((p), (v), __ATOMIC_RELAXED)

#define CHECKED_MALLOC(var, size) do { (var) = calloc(1, (size)); if (!(var)) goto fail; } while (0)

enum { VENC_LOG_ERROR, VENC_LOG_WARNING, VENC_LOG_INFO, VENC_LOG_DEBUG };
enum { TYPE_I, TYPE_P, TYPE_SKIP, TYPE_NUM };

typedef struct { int16_t x, y; } mv_t;

typedef struct {
    int i_threads;
    int i_frames;
    int i_keyint;
    int i_log_level;
    int i_qp_min, i_qp_max;
    int b_deblock;
    int i_bitrate;
    char psz_stats[32];
} venc_param_t;

/* one picture, with what has been found out about it */
typedef struct {
    int      i_poc;
    int      i_type;
    int      i_mb_done;          /* blocks reconstructed, for those who refer to it */
    int      i_qp_frame;
    uint8_t *p_plane;            /* source, then reconstruction */
    mv_t    *p_mv;
    int8_t  *p_aq;               /* by the lookahead */
    uint8_t *p_mbtype;
    uint32_t i_satd;
} vframe_t;

typedef struct {
    uint32_t i_low, i_range;
    uint32_t i_outstanding;
    uint32_t i_bytes;
    uint8_t *p_out;
} cabac_t;

typedef struct {
    uint32_t i_mb[TYPE_NUM];
    uint32_t i_bits_mb;
} mbstat_t;

/* distortion, by each thread for itself */
typedef struct {
    uint64_t i_ssd;
    uint32_t i_ssd_blocks;
    uint32_t i_ssd_worst;
} __attribute__((aligned(64))) distortion_t;

/* parts of the film with a quantiser of their own, from --zones */
typedef struct { int i_start, i_end, i_qp_add; } zone_t;

struct venc;
/* one encoding thread */
typedef struct {
    struct venc *h;
    int       i_id;
    int       i_waits;
    vframe_t *p_cur, *p_ref;
    cabac_t  *p_cabac;
    pthread_t thr;
} vthread_t;

typedef struct {
    int i_pkt_frame, i_pkt_row, i_pkt_bits;
} packet_t;

/* one encoder thread puts, the muxer takes */
typedef struct {
    uint32_t i_put;
    uint32_t i_get;
    packet_t pkt[PKT_QUEUE];
} pktqueue_t;

typedef struct {
    pthread_mutex_t mutex;
    int      i_qp_base;
    int      i_qp_lo, i_qp_hi;   /* from the parameters */
    int      i_bits_spent;       /* of the current second */
    int      i_frames_rc;
    int      i_bits_target;
    int      i_overshoots;
} ratecontrol_t;

typedef struct {
    int (*sad)(const uint8_t *a, const uint8_t *b);
    int (*dc)(const uint8_t *a);
    int (*quant)(int16_t *coef, int qp);
    const char *psz_cpu;
} dsp_t;

typedef struct venc {
    venc_param_t   param;
    ratecontrol_t *rc;
    vframe_t      *frames[FRAMES];
    pktqueue_t    *queues;
    vthread_t     *threads[THREADS_MAX];
    int            i_frames_ready;   /* by the lookahead */
    int            i_frames_out;     /* by the encoder threads, in order */
    int            i_la_cost;        /* by the lookahead, for the display */
    int            i_speed;          /* by the controller */
    int            i_polls;
    int            i_threads_left;
} venc_t;

extern dsp_t dsp;
extern mbstat_t mb_stats[THREADS_MAX];
extern uint32_t nr_residual_sum[THREADS_MAX][NR_COEFS];
extern distortion_t distortion[THREADS_MAX];
extern zone_t zones[4];
extern int i_zones;
extern uint32_t nr_count[THREADS_MAX];
extern int venc_log_level;
extern volatile int b_ctrl_c;

void venc_log(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int  venc_param_parse(venc_param_t *p, const char *name, const char *value);
void venc_param_default(venc_param_t *p);

venc_t *venc_open(const venc_param_t *p);
void    venc_close(venc_t *h);
void   *venc_thread_main(void *arg);
int     venc_wait(const int *counter, int value, int *waits);

vframe_t *frame_new(void);
void      frame_delete(vframe_t *f);
void      frame_synthesize(vframe_t *f, int poc);

int  analyse_mb(venc_t *h, vthread_t *t, int mx, int my);
void dsp_init(const char *cpu);

int  cabac_encode_mb(cabac_t *cb, int type, const int16_t *coef, mv_t mvd);
int  cabac_flush(cabac_t *cb);

ratecontrol_t *rc_new(const venc_param_t *p);
int  rc_mb_qp(ratecontrol_t *rc, int aq);
void rc_mb_end(ratecontrol_t *rc, int bits);
void rc_frame_end(ratecontrol_t *rc, vframe_t *f);

void *lookahead_main(void *arg);
void *mux_main(void *arg);
void *control_main(void *arg);
int   mux_put(pktqueue_t *q, int frame, int row, int bits);

#endif
