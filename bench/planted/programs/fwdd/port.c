/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "fwdd.h"

struct port ports[FWDD_MAX_PORT] __attribute__((aligned(CACHE_LINE)));

int
port_open(struct port *p, uint16_t id, uint32_t npool)
{
	snprintf(p->name, sizeof(p->name), "gen%u", id);
	p->id = id;
	p->mtu = 1500;
	p->rx_seed = 0x9e3779b9u * (id + 1);
	p->npool = npool;
	if (posix_memalign((void **)&p->pool, CACHE_LINE,
	    npool * sizeof(p->pool[0])) != 0) {
		p->pool = NULL;
		return -1;
	}
	memset(p->pool, 0, npool * sizeof(p->pool[0]));
	return 0;
}

void
port_close(struct port *p)
{
	free(p->pool);
	p->pool = NULL;
}

/* Packet generator: the "hardware" fills the next descriptors. */
int
port_rx(struct port *p, struct pkt **burst, int max)
{
	int i;

	for (i = 0; i < max; i++) {
		struct pkt *m = &p->pool[p->rx_cursor % p->npool];

		p->rx_seed = p->rx_seed * 1664525u + 1013904223u;
		m->dst = 0x0a000000u | (p->rx_seed >> 8 & 0x0001ffff);
		m->src = 0xc0a80000u | p->id;
		m->len = 64 + (p->rx_seed >> 20 & 0x3ff);
		m->port = p->id;
		burst[i] = m;
		p->rx_cursor++;
	}
	return i;
}

void
port_tx(struct port *p, struct pkt **burst, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (burst[i]->len > p->mtu) {
			p->tx_too_big++;
			continue;
		}
		p->tx_frames++;
		p->tx_octets += burst[i]->len;
	}
}
