/*
 * Clients: each makes its share of the jobs, from a list of phrases.
 */
#include "lpspool.h"

unsigned long		submitted;	/* by all clients */
unsigned long		resubmitted;	/* by all clients */

static const char *phrases[] = {
	"THE QUICK BROWN FOX",
	"PAGE OF",
	"TOTAL 1042.50",
	"  INDENTED LINE",
	"== CHAPTER ==",
	"JUMPS OVER THE DOG",
	"(SEE BELOW)",
	"#!/BIN/SH"
};
#define NPHRASE	(sizeof phrases / sizeof phrases[0])

/* Serial numbers handed out so far, by client. */
static unsigned		serial[NCLIENT];

static __thread int	clientno;
static __thread uint32_t clientseed;

static unsigned
next_serial(void)
{
	return ++serial[clientno] * NCLIENT + (unsigned)clientno;
}

/* The day's order number; all clients draw from the one roll. */
static unsigned
order_number(void)
{
	static unsigned roll;

	return __atomic_add_fetch(&roll, 1, __ATOMIC_RELAXED);
}

static void
compose(struct job *j)
{
	const char *s;
	int i, k;

	j->j_number = next_serial();
	j->j_user = (int)(rnd(&clientseed) % NUSER);
	j->j_nlines = 1 + (int)(rnd(&clientseed) % 3);
	j->j_class = (int)(j->j_number / NCLIENT % NFILTER);
	for (i = 0; i < j->j_nlines; i++) {
		s = phrases[rnd(&clientseed) % NPHRASE];
		for (k = 0; k < LINELEN && s[k] != '\0'; k++)
			j->j_text[i][k] = s[k];
		for (; k < LINELEN; k++)
			j->j_text[i][k] = ' ';
	}
}

/* Does the user still have quota?  (The quota is large here.) */
static int
within_quota(const struct user *us)
{
	return us->us_rate * 3 < us->us_quota;
}

void *
client_main(void *arg)
{
	struct job *j;
	struct user *us;
	unsigned i;

	clientno = (int)(intptr_t)arg;
	clientseed = conf.cf_seed + 77u * (unsigned)clientno + 1;
	for (i = 0; i < conf.cf_jobs; i++) {
		j = job_get();
		compose(j);
		us = users[j->j_user];
		if (!within_quota(us)) {
			note("over quota", j->j_user);
			job_put(j);
			continue;
		}
		us->us_jobs[clientno]++;
		if (order_number() % 5 == 0)
			__atomic_fetch_add(&resubmitted, 1, __ATOMIC_RELAXED);
		queue_add(&spools[j->j_class], j);
		__atomic_fetch_add(&submitted, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

void
client_report(FILE *fp)
{
	int i;

	for (i = 0; i < NCLIENT; i++)
		fprintf(fp, "client %d: %u jobs\n", i, serial[i]);
	fprintf(fp, "submitted %lu, again %lu\n", submitted, resubmitted);
}
