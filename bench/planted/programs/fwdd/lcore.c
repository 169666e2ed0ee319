/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "fwdd.h"

struct lcore lcores[FWDD_MAX_LCORE];
struct lcore_show lcore_show[FWDD_MAX_LCORE];

static uint64_t busy_polls[FWDD_MAX_LCORE];
static volatile uint8_t lcore_state[FWDD_MAX_LCORE];	/* 0 idle, 1 busy */
static int nlcores;

/* every transmitted packet, for the aggregate limit */
static struct {
	_Atomic uint64_t n;
} __attribute__((aligned(CACHE_LINE))) total_tx;

/* flushed by each lcore at its end */
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sum_packets, sum_drops;

static void
lcore_flush(struct lcore *lc)
{
	pthread_mutex_lock(&sum_lock);
	sum_packets += lc->packets;
	sum_drops += lc->drops;
	pthread_mutex_unlock(&sum_lock);
}

static void *
lcore_rx_main(void *arg)
{
	struct lcore *lc = arg;
	struct lcore_show *sh = &lcore_show[lc->id];
	struct pkt *burst[FWDD_BURST];
	int n;

	flow_cache_attach(lc);
	while (lc->packets < fwdd.limit) {
		lc->polls++;
		n = port_rx(lc->port, burst, fwdd.burst);
		if (n == 0) {
			sh->empty++;
			continue;
		}
		lcore_state[lc->id] = 1;
		busy_polls[lc->id]++;
		sh->bursts++;
		n = node_run(NODE_CLASSIFY, lc, burst, n);
		lc->packets += n;
		lcore_state[lc->id] = 0;
	}
	lcore_flush(lc);
	atomic_fetch_sub(&fwdd.rx_left, 1);
	return NULL;
}

static void *
lcore_tx_main(void *arg)
{
	struct lcore *lc = arg;
	struct lcore_show *sh = &lcore_show[lc->id];
	struct pkt *burst[FWDD_BURST];
	int n, left;

	for (;;) {
		left = atomic_load(&fwdd.rx_left);
		lc->polls++;
		for (n = 0; n < (int)fwdd.burst; n++)
			if ((burst[n] = ring_get(lc->in)) == NULL)
				break;
		if (n == 0) {
			sh->empty++;
			if (left == 0)
				break;
			sched_yield();
			continue;
		}
		lcore_state[lc->id] = 1;
		busy_polls[lc->id]++;
		sh->bursts++;
		node_run(NODE_REWRITE, lc, burst, n);
		port_tx(lc->port, burst, n);
		sh->octets += burst[0]->len;
		lc->packets += n;
		atomic_fetch_add(&total_tx.n, n);
		lcore_state[lc->id] = 0;
	}
	lcore_flush(lc);
	atomic_fetch_sub(&fwdd.tx_left, 1);
	return NULL;
}

static void *
lcore_ctl_main(void *arg)
{
	struct lcore *lc = arg;
	int i, busy;

	while (atomic_load(&fwdd.tx_left) > 0) {
		fwdd.ctl_ticks++;
		for (i = busy = 0; i < nlcores; i++)
			busy += lcore_state[i];
		fwdd.ctl_sum += busy;
		if ((fwdd.ctl_ticks & 0xff) == 0)
			neigh_age(fwdd.ctl_ticks);
		if (fwdd.verbose && (fwdd.ctl_ticks & 0xfffff) == 0)
			fprintf(stderr, "lcore %d: %d busy\n", lc->id, busy);
		sched_yield();
	}
	return NULL;
}

int
lcore_launch(void)
{
	static struct ring *rings[FWDD_MAX_PORT];
	uint32_t i, j;
	int rc;

	if (flow_cache_init(FWDD_MAX_LCORE) != 0)
		return -ENOMEM;
	for (i = 0; i < fwdd.nports; i++)
		if ((rings[i] = ring_create(FWDD_RING_SZ * fwdd.nports)) == NULL)
			return -ENOMEM;
	for (i = 0; i < fwdd.nports; i++) {
		/* port i is polled by lcore i and drained by lcore n + i */
		lcores[i].role = ROLE_RX;
		lcores[i].port = &ports[i];
		lcores[fwdd.nports + i].role = ROLE_TX;
		lcores[fwdd.nports + i].port = &ports[i];
		lcores[fwdd.nports + i].in = rings[(i + 1) % fwdd.nports];
		for (j = 0; j < fwdd.nports; j++)
			lcores[i].out[j] = rings[(i + 1) % fwdd.nports];
	}
	lcores[2 * fwdd.nports].role = ROLE_CTL;
	nlcores = 2 * fwdd.nports + 1;
	fwdd.rx_left = fwdd.tx_left = fwdd.nports;
	for (i = 0; i < (uint32_t)nlcores; i++) {
		struct lcore *lc = &lcores[i];
		void *(*fn)(void *) = lc->role == ROLE_RX ? lcore_rx_main :
		    lc->role == ROLE_TX ? lcore_tx_main : lcore_ctl_main;

		lc->id = i;
		rc = pthread_create(&lc->tid, NULL, fn, lc);
		if (rc != 0) {
			fprintf(stderr, "fwdd: lcore %u: %s\n", i, strerror(rc));
			return -rc;
		}
	}
	return 0;
}

void
lcore_wait(void)
{
	int i;

	for (i = 0; i < nlcores; i++)
		pthread_join(lcores[i].tid, NULL);
	flow_cache_fini();
}

void
lcore_report(FILE *f)
{
	int i;

	for (i = 0; i < nlcores; i++)
		fprintf(f, "lcore %d polls %lu packets %lu drops %lu busy %lu "
		    "bursts %lu empty %lu\n", i,
		    (unsigned long)lcores[i].polls,
		    (unsigned long)lcores[i].packets,
		    (unsigned long)lcores[i].drops,
		    (unsigned long)busy_polls[i],
		    (unsigned long)lcore_show[i].bursts,
		    (unsigned long)lcore_show[i].empty);
	fprintf(f, "total tx %lu, packets %lu, drops %lu\n",
	    (unsigned long)total_tx.n, (unsigned long)sum_packets,
	    (unsigned long)sum_drops);
}
