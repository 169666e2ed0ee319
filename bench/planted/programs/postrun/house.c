/* house.c - clock, sweeps, the report; and small helpers */
#include <stdarg.h>

#include "postrun.h"

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t log_lines;
static uint32_t wheel[8];

void *
xmalloc(size_t n)
{
	void *p = calloc(1, n);

	if (p == NULL) {
		fputs("postrun: out of memory\n", stderr);
		exit(71);
	}
	return (p);
}

void
logit(const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&log_lock);
	log_lines++;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	pthread_mutex_unlock(&log_lock);
}

static void
report(void)
{
	control.reports++;
	printf("report %u: conns %u msgs %u delivered %u\n", (unsigned)control.reports,
	    __atomic_load_n(&conns_total, __ATOMIC_RELAXED),
	    __atomic_load_n(&msgs_total, __ATOMIC_RELAXED),
	    __atomic_load_n(&delivered_total, __ATOMIC_RELAXED));
}

void *
house_main(void *arg)
{
	uint32_t t, k, v = 1;

	(void)arg;
	pthread_barrier_wait(&startgate);
	while (!__atomic_load_n(&control.stop, __ATOMIC_RELAXED)) {
		control.ticks++;
		t = (uint32_t)control.ticks;
		for (k = 0; k < 40; k++)	/* age the wheel */
			v = v * 1664525u + wheel[(v >> 13) & 7]++;
		__atomic_store_n(&clock_now, t >> 1, __ATOMIC_RELAXED);
		rate_refill(t);
		grey_sweep(t);
		if (got_hup) {
			got_hup = 0;
			logit("hangup");
		}
		if ((t & 8191) == 8191)
			report();
		if ((t & 31) == 0)
			usleep(20);
	}
	return (NULL);
}
