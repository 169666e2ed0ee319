/*
 * The device thread: drives all printers by turns.
 */
#include "lpspool.h"

struct printer		*printers[NPRINTER];
unsigned		feeds;		/* bands handed over, by the filters */
int			dev_running = 1;

/* Pages per printer since midnight; the accountant reads them. */
static unsigned		daypages[NPRINTER];
static unsigned		polls;		/* device thread */
static unsigned		idlepolls;	/* device thread */

static const struct {
	const char	*name;
	int		 cols;
	int		 speed;
} models[NPRINTER] = {
	{ "lp0", 80, 3 },
	{ "lp1", 132, 2 },
	{ "plotter", 64, 4 }
};

void
device_init(void)
{
	struct printer *pr;
	int i;

	for (i = 0; i < NPRINTER; i++) {
		pr = emalloc(sizeof *pr);
		pr->pr_name = models[i].name;
		pr->pr_cols = models[i].cols;
		pr->pr_speed = models[i].speed;
		pr->pr_toner = 1000000;
		pthread_mutex_init(&pr->pr_lock, NULL);
		printers[i] = pr;
	}
}

/* Called by the filters.  Nonzero: the ring is full. */
int
printer_feed(struct printer *pr, const struct band *b)
{
	struct band c = *b;

	c.b_sum %= (unsigned)pr->pr_cols * 1021;
	pthread_mutex_lock(&pr->pr_lock);
	if (pr->pr_rhead - pr->pr_rtail == NBAND) {
		pr->pr_stalled++;
		pthread_mutex_unlock(&pr->pr_lock);
		return -1;
	}
	pr->pr_ring[pr->pr_rhead++ % NBAND] = c;
	pthread_mutex_unlock(&pr->pr_lock);
	__atomic_fetch_add(&feeds, 1, __ATOMIC_RELAXED);
	return 0;
}

static int
printer_poll(struct printer *pr, int unit)
{
	struct band b;
	int n = 0;

	while (n < pr->pr_speed) {
		pthread_mutex_lock(&pr->pr_lock);
		if (pr->pr_rhead == pr->pr_rtail) {
			pthread_mutex_unlock(&pr->pr_lock);
			break;
		}
		b = pr->pr_ring[pr->pr_rtail++ % NBAND];
		pthread_mutex_unlock(&pr->pr_lock);
		n++;
		pr->pr_fed += b.b_sum;
		pr->pr_toner -= b.b_ink & 1;
		users[b.b_user]->us_printed++;
		if (b.b_last) {
			pr->pr_pages++;
			__atomic_store_n(&daypages[unit], pr->pr_pages,
			    __ATOMIC_RELAXED);
		}
	}
	return n;
}

void *
device_main(void *arg)
{
	int i, n, last = 0;

	(void)arg;
	for (;;) {
		n = 0;
		for (i = 0; i < NPRINTER; i++)
			n += printer_poll(printers[i], i);
		polls++;
		if (n == 0) {
			idlepolls++;
			if (last)
				break;
			if (!__atomic_load_n(&dev_running, __ATOMIC_ACQUIRE))
				last = 1;
			nap();
		}
	}
	return NULL;
}

void
device_stop(void)
{
	__atomic_store_n(&dev_running, 0, __ATOMIC_RELEASE);
}

unsigned
device_pages(int unit)
{
	return __atomic_load_n(&daypages[unit], __ATOMIC_RELAXED);
}

unsigned
device_report(FILE *fp)
{
	unsigned sum = 0;
	int i;

	for (i = 0; i < NPRINTER; i++) {
		fprintf(fp, "%s: %u pages, toner %u, sum %u\n",
		    printers[i]->pr_name, printers[i]->pr_pages,
		    printers[i]->pr_toner, printers[i]->pr_fed);
		sum += printers[i]->pr_fed;
	}
	if (conf.cf_trace)
		fprintf(fp, "polls %u, idle %u\n", polls, idlepolls);
	fprintf(fp, "feeds %u\n", feeds);
	return sum;
}
