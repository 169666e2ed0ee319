/* In the style of a block layer. */
#include "blk.h"

static struct submit_args submit_args[NR_CPUS];
static struct task_struct *submit_tasks[NR_CPUS];
static struct task_struct *dispatch_tasks[NR_HCTX];
static struct task_struct *irq_task, *timer_task;

static struct {
	u32	nr_bios;
	u32	verbose;
	u32	quiesce;
} params;

static int __init parse_params(int argc, char **argv)
{
	params.nr_bios = argc > 1 ? (u32)strtoul(argv[1], NULL, 10) : 1000;
	params.verbose = argc > 2;
	if (params.verbose)
		console_loglevel = 8;
	return params.nr_bios ? 0 : -EINVAL;
}

static int __init blkmux_init(void)
{
	int err;

	err = blk_mq_init();
	if (err)
		return err;
	err = throtl_init();
	if (err)
		return err;
	elevator = elv_init();
	if (!elevator || !ioc_create(4) || !ioc_create(5))
		return -ENOMEM;
	return 0;
}

static int blkmux_start(void)
{
	int i;

	submitters_left = NR_CPUS;
	dispatchers_left = NR_HCTX;
	boot_init(NR_CPUS + NR_HCTX + 2);
	timer_task = kthread_create(blk_timer_thread, NULL, "timer", 0);
	irq_task = kthread_create(blk_irq_thread, NULL, "irq", 0);
	for (i = 0; i < NR_HCTX; i++)
		dispatch_tasks[i] = kthread_create(blk_dispatch_thread, hctxs[i], "kblockd", i);
	for (i = 0; i < NR_CPUS; i++) {
		submit_args[i].cpu = i;
		submit_args[i].nr_bios = params.nr_bios;
		submit_tasks[i] = kthread_create(submit_thread, &submit_args[i], "submit", i);
	}
	return wake_up_processes();
}

int main(int argc, char **argv)
{
	u32 ios = 0, sectors = 0, merges = 0;
	int i;

	if (parse_params(argc, argv) || blkmux_init() || blkmux_start()) {
		fprintf(stderr, "blkmux: cannot start\n");
		return 1;
	}
	for (i = 0; i < NR_CPUS; i++)
		kthread_stop_wait(submit_tasks[i]);
	for (i = 0; i < NR_HCTX; i++)
		kthread_stop_wait(dispatch_tasks[i]);
	kthread_stop_wait(irq_task);
	WRITE_ONCE(blk_dying, true);
	kthread_stop_wait(timer_task);
	for (i = 0; i < NR_CPUS; i++) {
		ios += disk_stats[i].ios;
		sectors += disk_stats[i].sectors;
		merges += disk_stats[i].merges;
	}
	printf("%u ios, %u sectors, %u merges, %u timeouts, %u bad tags, %d in flight\n", ios, sectors,
	       merges, nr_timeouts, nr_bad_tags, atomic_read(&disk0.in_flight));
	return atomic_read(&disk0.in_flight) ? 1 : 0;
}
