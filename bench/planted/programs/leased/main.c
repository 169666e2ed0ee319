/*	main.c - start, wait and stop	*/

#include "leased.h"

int		 nserver = 3, nrelay = 2, debug = 0;
volatile int	 shutting_down;
int		 relays_running;
static u_int32_t exit_sum;
static int	 nthreads;

u_long		 rounds = 2000;

static const char default_conf[] =
    "user _leased\n"
    "domain example.net\n"
    "lease 3600\n"
    "maxlease 86400\n"
    "probewait 60\n"
    "clients 24\n"
    "subnet 10.1.0.0 600\n"
    "subnet 10.2.0.0 900\n";

static void
start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	if (pthread_create(t, NULL, fn, arg) != 0) {
		perror("pthread_create");
		exit(1);
	}
	nthreads++;
}

int
main(int argc, char **argv)
{
	pthread_t srv[MAXSERVER], rel[MAXRELAY], tmr, jrn, prb;
	struct relay *rl[MAXRELAY];
	int i;

	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 10);
	if (config_parse(default_conf) != 0)
		return 1;
	options_init();
	server_init();
	lease_init();
	packet_init(96);
	for (i = 0; i < nrelay; i++)
		rl[i] = relay_new(i);
	relays_running = nrelay;

	start(&tmr, timer_thread, NULL);
	start(&jrn, journal_thread, NULL);
	start(&prb, probe_thread, NULL);
	for (i = 0; i < nserver; i++)
		start(&srv[i], server_thread, (void *)(long)i);
	for (i = 0; i < nrelay; i++)
		start(&rel[i], relay_thread, rl[i]);

	for (i = 0; i < nrelay; i++)
		pthread_join(rel[i], NULL);
	shutting_down = 1;
	for (i = 0; i < nserver; i++)
		iface_put(ifaces[i], NULL);
	for (i = 0; i < nserver; i++)
		pthread_join(srv[i], NULL);
	pthread_join(prb, NULL);
	pthread_join(jrn, NULL);
	pthread_join(tmr, NULL);

	exit_sum = relay_report();
	server_report();
	lease_report();
	options_report();
	journal_report();
	printf("%d threads, %u answers\n", nthreads, exit_sum);
	return 0;
}
