#include "gate.h"
#include <sys/socket.h>
#include <unistd.h>

struct settings settings = { .max_len = 48, .workers = 2, .trace = 1, .session_ttl = 30 };

#define CLIENTS 3

static void usage(const char *self)
{
	fprintf(stderr, "usage: %s [-r rounds] [-w workers]\n", self);
	exit(2);
}

int main(int argc, char **argv)
{
	struct client clients[CLIENTS];
	pthread_t thread[CLIENTS];
	unsigned rounds = 200;
	uint64_t sent = 0, done;
	int opt;

	while ((opt = getopt(argc, argv, "r:w:")) != -1)
		switch (opt) {
		case 'r': rounds = (unsigned)atoi(optarg); break;
		case 'w': settings.workers = (unsigned)atoi(optarg); break;
		default: usage(argv[0]);
		}
	if (settings.workers < 1 || settings.workers > GATE_MAX_WORKERS)
		usage(argv[0]);

	modules_init();
	sessions_init();
	log_set_threshold(LOG_INFO);
	request_pool_init(24);
	limits_init(CLIENTS * 2, 64);
	for (unsigned i = 0; i < CLIENTS; i++) {
		clients[i] = (struct client){ .rounds = rounds, .seed = 17 + i * 1001 };
		for (int s = 0; s < 2; s++) {
			int sv[2];

			if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv)) {
				perror("socketpair");
				return 1;
			}
			clients[i].fd[s] = sv[0];
			poller_add(sv[1]);
		}
	}
	if (timer_start() || workers_start(settings.workers) || poller_start()) {
		perror("threads");
		return 1;
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		if (pthread_create(&thread[i], NULL, client_run, &clients[i]))
			return 1;
	for (unsigned i = 0; i < CLIENTS; i++) {
		pthread_join(thread[i], NULL);
		sent += clients[i].sent;
	}
	poller_stop();
	workers_stop();
	timer_stop();

	poller_report(stdout);
	done = workers_report(stdout);
	modules_report(stdout);
	timer_report(stdout);
	log_report(stdout);
	printf("sessions: %s, limited: %s\n", session_digest() ? "used" : "none",
	       limits_delayed() ? "some" : "none");
	for (unsigned i = 0; i < CLIENTS; i++)
		printf("client %u: %u sent, %u received, check %08x\n", i, clients[i].sent,
		       clients[i].received, clients[i].check);
	return done == sent ? 0 : 1;
}
