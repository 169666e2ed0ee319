/*	timer.c - the clock and its callbacks	*/

#include "leased.h"

struct timeout {
	struct timeout	*to_next;
	timeout_fn	 to_func;
	void		*to_arg;
	int		 to_left;
	int		 to_period;
	u_int32_t	 to_fired;
};

volatile u_int32_t	 cur_time;
static struct timeout	*timeouts;
static u_int32_t	 ticks;
static u_int32_t	 late_ticks;

void
timeout_add(timeout_fn fn, void *arg, int period)
{
	struct timeout *to = xcalloc(1, sizeof(*to));

	to->to_func = fn;
	to->to_arg = arg;
	to->to_left = to->to_period = period;
	to->to_next = timeouts;
	timeouts = to;
}

void *
timer_thread(void *arg)
{
	struct timeout *to;

	(void)arg;
	while (!shutting_down) {
		ticks++;
		if ((ticks & 3) == 0)
			cur_time++;
		for (to = timeouts; to; to = to->to_next)
			if (--to->to_left <= 0) {
				to->to_left = to->to_period;
				to->to_fired++;
				to->to_func(to->to_arg);
			}
		if (ticks == 0)
			late_ticks++;
		usleep(80);
	}
	return NULL;
}
