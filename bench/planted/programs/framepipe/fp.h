/* framepipe: capture -> slice encoders -> muxer, with pooled frames */
#ifndef FP_H
#define FP_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FP_W 96
#define FP_H_ 16
#define MB 4
#define NMB ((FP_W / MB) * (FP_H_ / MB))
#define NSLICE 6
#define NFRAMES 4
#define NENC 3
#define LINE 64

struct frame {
	struct frame *next;             /* free list of the pool */
	uint32_t number;
	uint32_t pts;
	atomic_int remaining;           /* slices still being coded */
	uint8_t *luma;
	uint32_t seed;
	uint32_t pad[7];
	uint32_t bits[NSLICE];          /* size of each coded slice */
	uint8_t coded[NSLICE];          /* slice is complete */
	uint8_t type;
	uint8_t qp[NMB];                /* quantizer of every block */
};

/* frames that nobody uses; the geometry is asked for by everybody */
struct pool {
	pthread_spinlock_t lock;
	int free;
	struct frame *head;
	uint16_t width, height;
	uint16_t mb_per_row, slices;
};

/* rate control: the target moves seldom, the muxer feeds sizes back */
struct ratectl {
	int target_qp;
	int max_delta;
	bool lossless;
	uint64_t fed_bits;
	uint64_t fed_frames;
};

/* one statistics block of the encoder group */
struct enc_stats {
	uint32_t level_hist[12];        /* coded levels, first encoder only */
	uint32_t muxed;                 /* advanced by the muxer */
	uint32_t late;
	uint32_t tail[2];
};

struct work {
	struct frame *f;
	int slice;
};

struct queue {
	pthread_mutex_t mu;
	pthread_cond_t more, room;
	struct work item[32];
	unsigned in, out;
	bool closed;
};

/* observers of the pipeline's events */
enum hook_id { HOOK_CAPTURED, HOOK_CODED, HOOK_MUXED, HOOK_MAX };
struct hook {
	void (*fn)(struct hook *h, const struct frame *f);
	unsigned long calls;
	uint32_t last;
};

/* private to one encoder thread; allocated on its own lines */
struct encoder {
	int id;
	pthread_t tid;
	struct pipe *p;
	uint64_t blocks;
	uint64_t bits;
	int16_t coef[MB * MB];
} __attribute__((aligned(LINE)));

struct pipe {
	struct pool *pool;
	struct ratectl *rc;
	struct enc_stats *st;
	struct queue slices, done;
	struct encoder *enc[NENC];
	long total;
};

extern struct hook hooks[HOOK_MAX];
extern _Atomic long in_flight;

/* pool.c */
struct pool *pool_new(int n);
struct frame *pool_get(struct pool *p);
void pool_put(struct pool *p, struct frame *f);
void queue_init(struct queue *q);
bool queue_push(struct queue *q, struct work w);
bool queue_pop(struct queue *q, struct work *w);
void queue_close(struct queue *q);

/* encode.c */
void *encoder_main(void *arg);
struct encoder *encoder_new(struct pipe *p, int id);
void encode_report(FILE *f);
int complexity_pass(struct pipe *p);

#endif
