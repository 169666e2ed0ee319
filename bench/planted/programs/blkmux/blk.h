/* In the style of a block layer. */
#ifndef _BLK_H
#define _BLK_H

#include "kernel.h"

#define NR_HCTX		2
#define TAG_WORDS	8
#define TAGS_PER_WORD	32
#define CQ_ENTRIES	128
#define NR_GROUPS	2

enum rq_state { RQ_IDLE, RQ_QUEUED, RQ_STARTED, RQ_COMPLETE };

/* task io context: one a group of submitters */
struct io_context {
	atomic_t	refcount;
	u16		ioprio;
	u16		ioc_class;
	u32		nr_batch;
	u32		nr_errors;
};

struct request {
	struct list_head queuelist;
	struct io_context *ioc;
	u32		tag;
	u32		sector;
	u16		nr_sectors;
	u8		state;
	u8		cpu;
	u32		seq;
	u32		deadline;
};

struct sbitmap_word {
	u32		word;		/* taken by submitters */
	u32		depth;
	u32		cleared;	/* given back by completions */
	u32		swaps;
};

struct sbitmap {
	u32		depth;
	u32		nr_words;
	struct sbitmap_word *map;
};

/* software queue, one a CPU */
struct blk_mq_ctx {
	spinlock_t	lock;
	u32		cpu;
	struct list_head rq_list;
	u32		rq_queued;
	u32		rq_merged;
};

struct blk_cqe {
	u32		tag;
	u32		result;
};

/* hardware queue */
struct blk_mq_hw_ctx {
	u32		index;
	u32		flags;
	u64		run;			/* dispatcher */
	u32		dispatch_busy;
	atomic_t	nr_active;		/* submitters and completions */
	u8		ctx_pending[NR_CPUS];
	u32		budget;
	struct list_head dispatch;
	u32		cq_tail;		/* dispatcher */
	u32		cq_head;		/* irq */
	struct blk_cqe	cq[CQ_ENTRIES];
	char		name[16];
};

struct throtl_grp {
	u64		bps_limit;
	u64		bytes_disp;		/* submitters */
	u32		slice_end;		/* timer */
	u32		nr_throttled;
};

struct elevator_data {
	spinlock_t	lock;
	u32		nr_sorted;
	u32		last_sector;
	u32		starved;
	u32		fifo_expire;		/* sysfs, submitters read it */
	u32		front_merges;
};

struct gendisk {
	u64		capacity;
	u32		max_sectors;
	u32		discard_granularity;
	atomic_t	in_flight;
	int		congested;
	u32		events;			/* event checks by the timer */
	u32		ev_block;
	char		disk_name[16];
};

struct disk_stats {
	u32		ios;
	u32		sectors;
	u32		merges;
};

struct pcpu_latency {
	u64		sum;
	u64		nr;
} ____cacheline_aligned;

extern struct gendisk	disk0;
extern struct blk_mq_ctx percpu_ctx[NR_CPUS];
extern struct blk_mq_hw_ctx *hctxs[NR_HCTX];
extern struct disk_stats disk_stats[NR_CPUS];
extern struct throtl_grp *throtl_grps[NR_GROUPS];
extern struct request	*static_rqs;
extern u32		blk_last_done;
extern u32		nr_timeouts, nr_bad_tags;
extern int		submitters_left, dispatchers_left;
extern bool		blk_dying;

/* tag.c */
int __init sbitmap_init(u32 nr_words);
int sbitmap_get(u32 hint);
void sbitmap_clear(u32 tag);

/* mq.c */
int __init blk_mq_init(void);
void blk_mq_insert_request(struct request *rq);
u32 blk_next_seq(void);
int blk_dispatch_thread(void *data);
int blk_irq_thread(void *data);

/* elevator.c */
struct elevator_data *__init elv_init(void);
void elv_insert(struct elevator_data *e, struct list_head *head, struct request *rq);
struct request *elv_next(struct elevator_data *e, struct list_head *head);
extern struct elevator_data *elevator;

/* bio.c */
struct submit_args {
	u32		nr_bios;
	u32		cpu;
};
int submit_thread(void *data);
int blk_timer_thread(void *data);
struct io_context *__init ioc_create(u16 ioprio);
int __init throtl_init(void);

#endif
