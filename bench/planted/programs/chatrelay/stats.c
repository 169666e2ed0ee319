#include "relay.h"

#include <stdio.h>

static struct tstat tstats[NSESS + NRELAY + 1];

struct lanectr lanectrs[NSESS + NRELAY + 1];

/* How often a user was warned; only the thread that runs the session writes its byte. */
_Alignas(CLINE) unsigned char strikes[NUSERS];

unsigned long drop_oversize, drop_closed, drop_unknown;

void tstat_in(uint32_t bytes)
{
	struct tstat *t = &tstats[thr_slot];

	t->in++;
	t->bytes += bytes;
}

void tstat_out(uint32_t bytes)
{
	tstats[thr_slot].out++;
	tstats[thr_slot].bytes += bytes;
}

void tstat_print(void)
{
	for (int i = 0; i < NSESS + NRELAY + 1; i++)
		printf("thread %d: in %u, out %u, bytes %llu, events %llu, weight %llu\n", i, tstats[i].in, tstats[i].out,
		       (unsigned long long)tstats[i].bytes, (unsigned long long)lanectrs[i].events,
		       (unsigned long long)lanectrs[i].weight);
	printf("dropped: %lu too long, %lu closed, %lu unknown\n", drop_oversize, drop_closed, drop_unknown);
}
