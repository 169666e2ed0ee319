/* main.c - start-up and the end */
#include <signal.h>

#include "postrun.h"

static pthread_t listener_tid, house_tid;
static pthread_t sess_tid[MAXSESS], run_tid[MAXRUN];
static struct session *sessions[MAXSESS];
static struct runner *runners[MAXRUN];

static void
on_hup(int sig)
{
	(void)sig;
	got_hup = 1;
}

static void
read_conf(void)
{
	static const char conf[] =
	    "max_rcpt=100\nmax_size=4096\nmax_conn=64\ngrey_delay=0\n";
	const char *p = conf;
	char key[32];
	int val;

	while (sscanf(p, "%31[^=]=%d", key, &val) == 2) {
		if (strcmp(key, "max_rcpt") == 0)
			limits.max_rcpt = val;
		else if (strcmp(key, "max_size") == 0)
			limits.max_size = val;
		else if (strcmp(key, "max_conn") == 0)
			limits.max_conn = val;
		else if (strcmp(key, "grey_delay") == 0)
			limits.grey_delay = val;
		p = strchr(p, '\n') + 1;
	}
	snprintf(limits.banner, sizeof(limits.banner), "220 %s ready", spool_dir);
}

static void
start(pthread_t *tid, void *(*fn)(void *), void *arg)
{
	if (pthread_create(tid, NULL, fn, arg) != 0) {
		perror("postrun: pthread_create");
		exit(71);
	}
}

int
main(int argc, char **argv)
{
	uint32_t cmds = 0, conns = 0;
	int i;

	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 10);
	if (getenv("POSTRUN_DEBUG") != NULL)
		debug_flags = atoi(getenv("POSTRUN_DEBUG"));
	read_conf();
	signal(SIGHUP, on_hup);
	domain_init();
	spool_init();
	pthread_barrier_init(&startgate, NULL, MAXSESS + MAXRUN + 3);
	for (i = 0; i < MAXSESS; i++)
		sessions[i] = session_new(i);
	for (i = 0; i < MAXRUN; i++)
		runners[i] = runner_new(i);
	start(&house_tid, house_main, NULL);
	for (i = 0; i < MAXRUN; i++)
		start(&run_tid[i], runner_main, runners[i]);
	for (i = 0; i < MAXSESS; i++)
		start(&sess_tid[i], session_main, sessions[i]);
	start(&listener_tid, listener, NULL);
	pthread_barrier_wait(&startgate);
	puts(limits.banner);

	pthread_join(listener_tid, NULL);
	for (i = 0; i < MAXSESS; i++)
		pthread_join(sess_tid[i], NULL);
	for (i = 0; i < MAXRUN; i++)
		pthread_join(run_tid[i], NULL);
	__atomic_store_n(&control.stop, 1, __ATOMIC_RELAXED);
	pthread_join(house_tid, NULL);
	for (i = 0; i < MAXSESS; i++) {
		cmds += smtpstat[i].ss_cmds;
		conns += smtpstat[i].ss_conns;
	}
	for (i = 0; i < MAXSESS + MAXRUN; i++)
		printf("%s: %lu loops, %lu idle\n", hello[i],
		    (unsigned long)padstat[i].ps_loops, (unsigned long)padstat[i].ps_idle);
	printf("%u connections, %u commands, %u delivered of %u; oom %d bad %d/%d\n", conns, cmds,
	    delivered_total, msgs_total, n_oom, n_badcmd, n_badqid);
	mbox_report(stdout);
	return (delivered_total == msgs_total ? 0 : 1);
}
