/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fwdd.h"

struct fwdd_global fwdd __attribute__((aligned(CACHE_LINE))) = {
	.nports = 2,
	.burst	= FWDD_BURST,
	.limit	= 400000,
};

/* start-up self test, each of two checks in a thread of its own */
static struct selftest {
	uint64_t ring_ops;
	uint64_t fib_ops;
	int	 failed;
} selftest;

static void *
selftest_ring(void *arg)
{
	struct ring *r = ring_create(16);
	struct pkt p;
	int i;

	(void)arg;
	if (r == NULL) {
		selftest.failed = 1;
		return NULL;
	}
	for (i = 0; i < 200; i++) {
		ring_put(r, &p);
		if (ring_get(r) != &p)
			selftest.failed = 1;
		selftest.ring_ops++;
	}
	ring_destroy(r);
	return NULL;
}

static void *
selftest_fib(void *arg)
{
	uint32_t a;

	(void)arg;
	for (a = 0; a < 200; a++) {
		if (fib_lookup(0x0a000000u + a) == NULL)
			selftest.failed = 1;
		selftest.fib_ops++;
	}
	return NULL;
}

static int
run_selftest(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, selftest_ring, NULL) != 0)
		return -1;
	pthread_join(t, NULL);
	if (pthread_create(&t, NULL, selftest_fib, NULL) != 0)
		return -1;
	pthread_join(t, NULL);
	return selftest.failed ? -1 : 0;
}

static void
usage(void)
{
	fprintf(stderr, "usage: fwdd [-v] [-b burst] [-n packets] [-p ports]\n");
	exit(2);
}

int
main(int argc, char **argv)
{
	uint32_t i;
	int c;

	while ((c = getopt(argc, argv, "b:n:p:v")) != -1) {
		switch (c) {
		case 'b':
			fwdd.burst = strtoul(optarg, NULL, 0);
			if (fwdd.burst == 0 || fwdd.burst > FWDD_BURST)
				usage();
			break;
		case 'n':
			fwdd.limit = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			fwdd.nports = strtoul(optarg, NULL, 0);
			if (fwdd.nports == 0 || fwdd.nports > 3)
				usage();
			break;
		case 'v':
			fwdd.verbose = true;
			break;
		default:
			usage();
		}
	}
	if (fib_init(fwdd.nports) != 0) {
		fprintf(stderr, "fwdd: no memory for the fib\n");
		return 1;
	}
	for (i = 0; i < fwdd.nports; i++)
		if (port_open(&ports[i], i, 512) != 0) {
			fprintf(stderr, "fwdd: port %u: no memory\n", i);
			return 1;
		}
	if (run_selftest() != 0) {
		fprintf(stderr, "fwdd: self test failed\n");
		return 1;
	}
	if (lcore_launch() != 0)
		return 1;
	lcore_wait();
	lcore_report(stdout);
	node_report(stdout);
	for (i = 0; i < fwdd.nports; i++) {
		printf("port %s tx %lu frames %lu octets\n", ports[i].name,
		    (unsigned long)ports[i].tx_frames,
		    (unsigned long)ports[i].tx_octets);
		port_close(&ports[i]);
	}
	fib_fini();
	return 0;
}
