/* collects the rows of all threads and writes them in order */
#include "venc.h"
#include <sched.h>

static struct { uint32_t i_frames_w, i_rows, i_bits_w, i_crc; } muxer;
static uint32_t i_late_rows;

int mux_put(pktqueue_t *q, int frame, int row, int bits)
{
    uint32_t put = q->i_put;
    packet_t *p = &q->pkt[put % PKT_QUEUE];

    while (put - venc_load(&q->i_get) == PKT_QUEUE) {
        __atomic_add_fetch(&i_late_rows, 1, __ATOMIC_RELAXED);
        sched_yield();
    }
    p->i_pkt_frame = frame;
    p->i_pkt_row = row;
    p->i_pkt_bits = bits;
    venc_store(&q->i_put, put + 1);
    return 0;
}

static void write_row(const packet_t *p)
{
    uint32_t c = muxer.i_crc ^ (p->i_pkt_frame << 8 ^ p->i_pkt_row);

    for (int i = 0; i < 4; i++)
        c = c >> 1 ^ (-(c & 1) & 0xedb88320u);
    muxer.i_crc = c;
    muxer.i_rows++;
    muxer.i_bits_w += p->i_pkt_bits;
    if (p->i_pkt_row == MB_H - 1)
        muxer.i_frames_w++;
}

void *mux_main(void *arg)
{
    venc_t *h = arg;
    uint32_t total = (uint32_t)h->param.i_frames;

    /* frame n comes from thread n % threads, row by row */
    for (uint32_t n = 0; n < total && !b_ctrl_c; n++) {
        pktqueue_t *q = &h->queues[n % h->param.i_threads];

        for (int row = 0; row < MB_H; row++) {
            while (venc_load(&q->i_put) == q->i_get)
                sched_yield();
            write_row(&q->pkt[q->i_get % PKT_QUEUE]);
            venc_store(&q->i_get, q->i_get + 1);
        }
    }
    printf("%u frames, %u rows, crc %08x\n", muxer.i_frames_w, muxer.i_rows, muxer.i_crc);
    venc_log(VENC_LOG_INFO, "%u bits, %u late rows\n", muxer.i_bits_w, i_late_rows);
    return NULL;
}
