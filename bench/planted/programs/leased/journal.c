/*	journal.c - lease changes on their way to the disk	*/

#include "leased.h"

struct jring {
	volatile u_int	 jq_in;
	volatile u_int	 jq_out;
	u_int		 jq_full;
	struct jrec	 jq_rec[JRSIZE];
};

static struct jring	 jrings[MAXSERVER];
static u_int32_t	 written;
static u_int32_t	 checksum;
static u_int32_t	 sync_every = 16, syncs;
static u_int32_t	 write_errors;

int
journal_put(int unit, in_addr_t addr, int what)
{
	struct jring *jq = &jrings[unit];
	struct jrec *r;

	if (jq->jq_in - jq->jq_out >= JRSIZE) {
		jq->jq_full++;
		return -1;
	}
	r = &jq->jq_rec[jq->jq_in % JRSIZE];
	r->jr_when = cur_time;
	r->jr_addr = addr;
	r->jr_what = what;
	__sync_synchronize();
	jq->jq_in++;
	return 0;
}

static void
journal_write(const struct jrec *r)
{
	checksum = checksum * 33 + (r->jr_addr ^ r->jr_what);
	checksum ^= checksum >> 11;
	written++;
	if (written % sync_every == 0)
		syncs++;
}

void *
journal_thread(void *arg)
{
	struct jring *jq;
	int i, n;

	(void)arg;
	for (;;) {
		n = 0;
		for (i = 0; i < nserver; i++) {
			jq = &jrings[i];
			while (jq->jq_out != jq->jq_in) {
				journal_write(&jq->jq_rec[jq->jq_out % JRSIZE]);
				__sync_synchronize();
				jq->jq_out++;
				n++;
			}
		}
		if (n == 0) {
			if (shutting_down)
				break;
			sched_yield();
		}
	}
	return NULL;
}

void
journal_report(void)
{
	u_int32_t full = 0;
	int i;

	for (i = 0; i < nserver; i++)
		full += jrings[i].jq_full;
	printf("journal: %u records, %u syncs, %u full, %u errors, sum %x\n", written, syncs, full, write_errors, checksum);
}
