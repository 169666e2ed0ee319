/*
 * lpspool: start, wait, report.
 */
#include "lpspool.h"

static pthread_t	clients[NCLIENT];
static pthread_t	filters[NFILTER];
static pthread_t	devthread, acctthread;
static int		nstart;		/* threads started */
static unsigned		grand;		/* at the end */

static void
start(pthread_t *t, void *(*fn)(void *), intptr_t arg)
{
	if (pthread_create(t, NULL, fn, (void *)arg) != 0)
		fatal("cannot start a thread");
	nstart++;
}

int
main(int argc, char **argv)
{
	int i;

	conf_default();
	if (conf_args(argc, argv) < 0) {
		fprintf(stderr, "usage: lpspool [jobs]\n");
		return 2;
	}
	font_init();
	acct_init();
	device_init();
	queue_init();

	start(&devthread, device_main, 0);
	start(&acctthread, acct_main, 0);
	for (i = 0; i < NFILTER; i++)
		start(&filters[i], filter_main, i);
	for (i = 0; i < NCLIENT; i++)
		start(&clients[i], client_main, i);

	for (i = 0; i < NCLIENT; i++)
		pthread_join(clients[i], NULL);
	for (i = 0; i < NFILTER; i++)
		queue_close(&spools[i]);
	for (i = 0; i < NFILTER; i++)
		pthread_join(filters[i], NULL);
	device_stop();
	pthread_join(devthread, NULL);
	acct_stop();
	pthread_join(acctthread, NULL);

	client_report(stdout);
	queue_status(stdout);
	filter_report(stdout);
	grand = device_report(stdout);
	grand += acct_report(stdout);
	note_dump(stdout);
	printf("%d threads, grand total %u\n", nstart, grand);
	return 0;
}
