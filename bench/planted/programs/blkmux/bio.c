/* In the style of a block layer. */
/*
 * Where requests come from, how they are throttled, and the timer.
 */
#include "blk.h"

u32 jiffies = 1;
struct throtl_grp *throtl_grps[NR_GROUPS];

static int nomerges;			/* module parameter */
static u32 plug_depth[NR_CPUS];
static struct io_context *iocs[2];
static u32 timer_wheel[16];

struct io_context *__init ioc_create(u16 ioprio)
{
	struct io_context *ioc = kzalloc(sizeof(*ioc));

	if (!ioc)
		return NULL;
	ioc->refcount.counter = 1;
	ioc->ioprio = ioprio;
	ioc->ioc_class = 2;
	ioc->nr_batch = 32;
	return iocs[ioprio & 1] = ioc;
}

int __init throtl_init(void)
{
	int i;

	for (i = 0; i < NR_GROUPS; i++) {
		throtl_grps[i] = kzalloc(sizeof(**throtl_grps));
		if (!throtl_grps[i])
			return -ENOMEM;
		throtl_grps[i]->bps_limit = ~0ull >> 1;
	}
	return 0;
}

static bool throtl_charge(struct throtl_grp *tg, u32 bytes)
{
	if (unlikely(READ_ONCE(tg->bytes_disp) > tg->bps_limit)) {
		tg->nr_throttled++;
		return false;
	}
	__atomic_add_fetch(&tg->bytes_disp, bytes, __ATOMIC_RELAXED);
	return true;
}

static void bio_checksum(u32 sector, u32 *sum)
{
	int i;

	for (i = 0; i < 40; i++)
		*sum = *sum * 33 + (sector >> (i & 7));
}

int submit_thread(void *data)
{
	struct submit_args *args = data;
	u32 cpu = args->cpu, n, sum = 0, sector;
	struct io_context *ioc = iocs[cpu & 1];
	struct throtl_grp *tg = throtl_grps[cpu % NR_GROUPS];
	struct request *rq;
	int tag;

	wait_for_boot();
	for (n = 0; n < args->nr_bios; n++) {
		sector = prandom_u32() % (u32)disk0.capacity;
		bio_checksum(sector, &sum);
		if (!throtl_charge(tg, 512 * 8))
			continue;
		while ((tag = sbitmap_get(cpu * 2)) < 0)
			cond_resched();
		rq = &static_rqs[tag];
		rq->sector = sector;
		rq->nr_sectors = 8 + (sum & 7);
		if (rq->nr_sectors > disk0.max_sectors)
			rq->nr_sectors = disk0.max_sectors;
		rq->ioc = ioc;
		rq->cpu = cpu;
		rq->seq = blk_next_seq();
		rq->deadline = READ_ONCE(jiffies) + elevator->fifo_expire;
		atomic_inc(&ioc->refcount);
		atomic_inc(&disk0.in_flight);
		plug_depth[cpu]++;
		if (!nomerges && (sector & 0x3ff) == 7)
			disk_stats[cpu].merges++;
		blk_mq_insert_request(rq);
		disk_stats[cpu].ios++;
		disk_stats[cpu].sectors += 8;
	}
	kthread_account(n + (sum & 1));
	__atomic_sub_fetch(&submitters_left, 1, __ATOMIC_RELEASE);
	return 0;
}

static void disk_check_events(struct gendisk *disk)
{
	disk->events++;
	if (disk->ev_block)
		pr_info("%s: events are blocked\n", disk->disk_name);
}

int blk_timer_thread(void *data)
{
	u32 now, k, sum = 1;

	(void)data;
	wait_for_boot();
	while (!READ_ONCE(blk_dying)) {
		now = jiffies + 1;
		WRITE_ONCE(jiffies, now);
		for (k = 0; k < 30; k++)
			sum += timer_wheel[(sum + k) & 15]++;
		for (k = 0; k < NR_GROUPS; k++)
			WRITE_ONCE(throtl_grps[k]->slice_end, now + 100);
		disk_check_events(&disk0);
		kthread_account(1);
		if ((now & 0x1fff) == 0)
			pr_info("%s: %d in flight, last %u\n", disk0.disk_name,
				atomic_read(&disk0.in_flight), READ_ONCE(blk_last_done));
		if ((now & 31) == 0)
			cond_resched();
	}
	return 0;
}
