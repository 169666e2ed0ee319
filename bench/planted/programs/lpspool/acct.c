/*
 * Accounting: goes round the users and printers and keeps a ledger.
 */
#include "lpspool.h"

#define NLEDGER	64

struct user		*users[NUSER];

static int		acct_quit;
static unsigned		rounds_done;	/* accountant */
static unsigned		ledger[NLEDGER];	/* accountant */
static unsigned		busyseen;	/* accountant */

static const char *logins[NUSER] = {
	"root", "ken", "dmr", "bwk", "doug", "rob", "jff", "srb", "lem"
};

unsigned	 device_pages(int);

void
acct_init(void)
{
	struct user *us;
	int i;

	for (i = 0; i < NUSER; i++) {
		us = emalloc(sizeof *us);
		strncpy(us->us_name, logins[i], sizeof us->us_name - 1);
		us->us_rate = 2 + (unsigned)i % 3;
		us->us_quota = 1000000;
		users[i] = us;
	}
}

static unsigned
charge(struct user *us)
{
	unsigned lines = us->us_printed;

	us->us_charge = lines * us->us_rate;
	return us->us_charge;
}

void *
acct_main(void *arg)
{
	unsigned total, k = 0;
	int i;

	(void)arg;
	while (!__atomic_load_n(&acct_quit, __ATOMIC_ACQUIRE)) {
		total = 0;
		for (i = 0; i < NUSER; i++)
			total += charge(users[i]);
		for (i = 0; i < NPRINTER; i++)
			total += device_pages(i);
		for (i = 0; i < NFILTER; i++)
			busyseen += filter_busy[i];
		ledger[k++ % NLEDGER] = total;
		rounds_done++;
		if (rounds_done % conf.cf_tick == 0)
			nap();
	}
	return NULL;
}

void
acct_stop(void)
{
	__atomic_store_n(&acct_quit, 1, __ATOMIC_RELEASE);
}

/* After the join: the last bill. */
unsigned
acct_report(FILE *fp)
{
	unsigned sum = 0;
	int i;

	for (i = 0; i < NUSER; i++) {
		charge(users[i]);
		fprintf(fp, "%-6s %u+%u jobs, %u lines, owes %u\n",
		    users[i]->us_name, users[i]->us_jobs[0],
		    users[i]->us_jobs[1], users[i]->us_printed,
		    users[i]->us_charge);
		sum += users[i]->us_charge;
	}
	if (conf.cf_trace)
		fprintf(fp, "rounds %u busy %u last %u\n", rounds_done,
		    busyseen, ledger[0]);
	return sum;
}
