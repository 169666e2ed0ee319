/* SPDX-License-Identifier: BSD-2-Clause */
#include <sched.h>
#include <string.h>

#include "fwdd.h"

static int node_classify(struct lcore *, struct pkt **, int);
static int node_rewrite(struct lcore *, struct pkt **, int);
static int node_punt(struct lcore *, struct pkt **, int);

static struct node node_tbl[] = {
	[NODE_CLASSIFY] = { "classify", node_classify, 0, 0 },
	[NODE_REWRITE]	= { "rewrite",	node_rewrite,  0, 0 },
	[NODE_PUNT]	= { "punt",	node_punt,     0, 0 },
};

/* packets for the slow path; nothing sends such packets in normal service */
static pthread_mutex_t punt_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t punted;
static uint64_t punted_octets;

int
node_run(unsigned idx, struct lcore *lc, struct pkt **burst, int n)
{
	struct node *nd = &node_tbl[idx];

	nd->calls++;
	nd->packets += n;
	return nd->process(lc, burst, n);
}

static int
node_classify(struct lcore *lc, struct pkt **burst, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		struct pkt *m = burst[i];
		const struct route *rt = flow_lookup(m->dst);

		if (rt == NULL) {
			node_run(NODE_PUNT, lc, &burst[i], 1);
			continue;
		}
		m->hdr[8] = 64;
		m->hdr[9] = rt->neigh;
		while (!ring_put(lc->out[rt->port], m))
			sched_yield();
	}
	return n;
}

static int
node_rewrite(struct lcore *lc, struct pkt **burst, int n)
{
	uint8_t mac[6];
	int i;

	for (i = 0; i < n; i++) {
		struct pkt *m = burst[i];

		if (!neigh_resolve(m->hdr[9], mac, lc->packets)) {
			lc->drops++;
			continue;
		}
		memcpy(m->hdr, mac, sizeof(mac));
		m->hdr[8]--;
	}
	return n;
}

static int
node_punt(struct lcore *lc, struct pkt **burst, int n)
{
	(void)lc;
	pthread_mutex_lock(&punt_lock);
	punted += n;
	punted_octets += burst[0]->len;
	pthread_mutex_unlock(&punt_lock);
	return 0;
}

void
node_report(FILE *f)
{
	unsigned i;

	for (i = 0; i < sizeof(node_tbl) / sizeof(node_tbl[0]); i++)
		fprintf(f, "node %-10s calls %8lu packets %8lu\n",
		    node_tbl[i].name, (unsigned long)node_tbl[i].calls,
		    (unsigned long)node_tbl[i].packets);
	if (punted)
		fprintf(f, "punted %lu (%lu octets)\n", (unsigned long)punted,
		    (unsigned long)punted_octets);
}
