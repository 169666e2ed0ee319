/* In the style of a block layer. */
#include "blk.h"

struct gendisk disk0 = {
	.capacity = 1u << 22,
	.max_sectors = 256,
	.disk_name = "blkmux0",
};
struct blk_mq_ctx percpu_ctx[NR_CPUS];
struct blk_mq_hw_ctx *hctxs[NR_HCTX];
struct disk_stats disk_stats[NR_CPUS];
struct request *static_rqs;
u32 blk_last_done;
u32 nr_timeouts, nr_bad_tags;
int submitters_left, dispatchers_left;
bool blk_dying;

static struct pcpu_latency latency[NR_HCTX];
static struct {
	u32	interrupts;
	u32	spurious;
	u32	polls;
} irq_desc;

int __init blk_mq_init(void)
{
	int i;

	static_rqs = kcalloc(TAG_WORDS * TAGS_PER_WORD, sizeof(*static_rqs));
	if (!static_rqs)
		return -ENOMEM;
	for (i = 0; i < TAG_WORDS * TAGS_PER_WORD; i++) {
		static_rqs[i].tag = i;
		INIT_LIST_HEAD(&static_rqs[i].queuelist);
	}
	for (i = 0; i < NR_CPUS; i++) {
		percpu_ctx[i].cpu = i;
		INIT_LIST_HEAD(&percpu_ctx[i].rq_list);
	}
	for (i = 0; i < NR_HCTX; i++) {
		struct blk_mq_hw_ctx *hctx = kzalloc(sizeof(*hctx));

		if (!hctx)
			return -ENOMEM;
		hctx->index = i;
		hctx->budget = 16;
		INIT_LIST_HEAD(&hctx->dispatch);
		snprintf(hctx->name, sizeof(hctx->name), "hctx%d", i);
		hctxs[i] = hctx;
	}
	return sbitmap_init(TAG_WORDS);
}

u32 blk_next_seq(void)
{
	static u32 seq;

	return __atomic_add_fetch(&seq, 1, __ATOMIC_RELAXED);
}

void blk_mq_insert_request(struct request *rq)
{
	int cpu = smp_processor_id();
	struct blk_mq_ctx *ctx = &percpu_ctx[cpu];
	struct blk_mq_hw_ctx *hctx = hctxs[cpu % NR_HCTX];

	rq->state = RQ_QUEUED;
	atomic_inc(&hctx->nr_active);
	spin_lock(&ctx->lock);
	list_add_tail(&rq->queuelist, &ctx->rq_list);
	ctx->rq_queued++;
	spin_unlock(&ctx->lock);
	WRITE_ONCE(hctx->ctx_pending[cpu], 1);
}

/* take over what the software queue of a CPU holds */
static int blk_mq_flush_ctx(struct blk_mq_hw_ctx *hctx, int cpu)
{
	struct blk_mq_ctx *ctx = &percpu_ctx[cpu];
	struct request *rq;
	int nr = 0;

	WRITE_ONCE(hctx->ctx_pending[cpu], 0);
	do {
		rq = NULL;
		spin_lock(&ctx->lock);
		if (!list_empty(&ctx->rq_list)) {
			rq = list_first_entry(&ctx->rq_list, struct request, queuelist);
			list_del_init(&rq->queuelist);
		}
		spin_unlock(&ctx->lock);
		if (rq) {
			elv_insert(elevator, &hctx->dispatch, rq);
			nr++;
		}
	} while (rq && nr < 16);
	if (rq)
		WRITE_ONCE(hctx->ctx_pending[cpu], 1);
	return nr;
}

static u32 blk_device_transfer(struct request *rq)
{
	u32 i, crc = rq->sector;

	for (i = 0; i < 32u + rq->nr_sectors; i++)
		crc = (crc >> 1) ^ (0xedb88320u & -(crc & 1));
	return crc;
}

static bool blk_queue_cqe(struct blk_mq_hw_ctx *hctx, u32 tag, u32 result)
{
	u32 tail = hctx->cq_tail;

	if (tail - smp_load_acquire(&hctx->cq_head) == CQ_ENTRIES)
		return false;
	hctx->cq[tail % CQ_ENTRIES].tag = tag;
	hctx->cq[tail % CQ_ENTRIES].result = result;
	smp_store_release(&hctx->cq_tail, tail + 1);
	return true;
}

int blk_dispatch_thread(void *data)
{
	struct blk_mq_hw_ctx *hctx = data;
	struct request *rq;
	u32 res;
	int cpu, work;

	wait_for_boot();
	for (;;) {
		work = 0;
		hctx->run++;
		for (cpu = hctx->index; cpu < NR_CPUS; cpu += NR_HCTX)
			if (READ_ONCE(hctx->ctx_pending[cpu]))
				work += blk_mq_flush_ctx(hctx, cpu);
		while ((rq = elv_next(elevator, &hctx->dispatch)) != NULL) {
			rq->state = RQ_STARTED;
			res = blk_device_transfer(rq) + rq->ioc->ioprio;
			if (rq->ioc->ioc_class == 3)
				hctx->dispatch_busy++;
			while (!blk_queue_cqe(hctx, rq->tag, res))
				cond_resched();
			work++;
		}
		kthread_account(work);
		if (work)
			continue;
		if (smp_load_acquire(&submitters_left) == 0 && atomic_read(&hctx->nr_active) == 0)
			break;
		cond_resched();
	}
	__atomic_sub_fetch(&dispatchers_left, 1, __ATOMIC_RELEASE);
	return 0;
}

static void blk_mq_complete(struct blk_mq_hw_ctx *hctx, struct blk_cqe *cqe)
{
	struct request *rq = &static_rqs[cqe->tag];

	if (unlikely(rq->state != RQ_STARTED))
		pr_err("%s: tag %u is not started\n", hctx->name, cqe->tag);
	rq->state = RQ_COMPLETE;
	if (unlikely((int)(READ_ONCE(jiffies) - rq->deadline) > 1 << 28))
		nr_timeouts++;
	WRITE_ONCE(blk_last_done, rq->seq);
	latency[hctx->index].sum += cqe->result & 255;
	latency[hctx->index].nr++;
	atomic_dec(&rq->ioc->refcount);
	atomic_dec(&disk0.in_flight);
	sbitmap_clear(cqe->tag);
	atomic_dec(&hctx->nr_active);
}

int blk_irq_thread(void *data)
{
	u32 head, nr;
	int i;

	(void)data;
	wait_for_boot();
	do {
		nr = 0;
		irq_desc.polls++;
		for (i = 0; i < NR_HCTX; i++) {
			struct blk_mq_hw_ctx *hctx = hctxs[i];

			head = hctx->cq_head;
			while (head != smp_load_acquire(&hctx->cq_tail)) {
				blk_mq_complete(hctx, &hctx->cq[head % CQ_ENTRIES]);
				smp_store_release(&hctx->cq_head, ++head);
				nr++;
			}
		}
		irq_desc.interrupts += nr;
		kthread_account(nr);
		if (!nr)
			cond_resched();
	} while (nr || smp_load_acquire(&dispatchers_left));
	pr_info("irq: %u of %u polls, latency %lu/%lu\n", irq_desc.interrupts, irq_desc.polls,
		(unsigned long)(latency[0].sum + latency[1].sum),
		(unsigned long)(latency[0].nr + latency[1].nr));
	return 0;
}
