#include "namec.h"

/* Coarse time. */
static struct {
	u32	now;
	u32	ticks;
	u32	ttl_min;
	u32	ttl_max;
	u32	trace;
} clk __aligned_line;

u32 clk_now(void)
{
	return READ_ONCE(clk.now);
}

void clk_advance(u32 ticks)
{
	WRITE_ONCE(clk.now, clk.now + ticks);
	clk.ticks++;
}

bool clk_trace_on(void)
{
	return READ_ONCE(clk.trace) != 0;
}

u32 clk_ttl(u32 want)
{
	if (want < READ_ONCE(clk.ttl_min))
		return clk.ttl_min;
	if (want > READ_ONCE(clk.ttl_max))
		return clk.ttl_max;
	return want;
}

void clk_setup(u32 ttl_min, u32 ttl_max, bool trace)
{
	clk.now = 1;
	clk.ttl_min = ttl_min;
	clk.ttl_max = ttl_max;
	clk.trace = trace;
}
