#include "port.h"

#include <stdio.h>
#include <stdlib.h>

struct port ports[HUB_PORTS];

void ports_init(void)
{
	for (unsigned i = 0; i < HUB_PORTS; i++) {
		struct port *p = &ports[i];

		p->rx = ring_new(16);
		p->tx = ring_new(32);
		p->id = (uint16_t)i;
		p->flags = PORT_UP;
		if (i % 4 == 0)
			p->flags |= PORT_TRUNK;
		p->vlan = (uint16_t)(i % HUB_VLANS);
		p->mtu = 1518;
		p->tx_lock = malloc(sizeof *p->tx_lock);
		if (!p->tx_lock || mtx_init(p->tx_lock, mtx_plain) != thrd_success)
			hub_fatal("no lock for a port");
	}
}

/* called by the driver: a frame came in on the wire */
bool port_receive(struct port *p, struct frame *f)
{
	if (!(p->flags & PORT_UP) || f->len > p->mtu) {
		p->rx_dropped++;
		return false;
	}
	f->in_port = (uint8_t)p->id;
	if (!(p->flags & PORT_TRUNK))
		f->vlan = p->vlan;
	p->rx_frames++;
	p->rx_bytes += f->len;
	if (!ring_push(p->rx, f)) {
		p->rx_dropped++;
		return false;
	}
	return true;
}

/* called by any forwarder */
bool port_send(struct port *p, struct frame *f)
{
	uint16_t len = f->len;
	bool ok;

	mtx_lock(p->tx_lock);
	ok = ring_push(p->tx, f);
	if (ok) {
		p->tx_frames++;
		p->tx_bytes += len;
	} else {
		p->tx_dropped++;
	}
	mtx_unlock(p->tx_lock);
	return ok;
}

void ports_destroy(void)
{
	for (unsigned i = 0; i < HUB_PORTS; i++) {
		struct port *p = &ports[i];
		struct frame *f;

		while ((f = ring_pop(p->rx)))
			frame_put(f);
		while ((f = ring_pop(p->tx)))
			frame_put(f);
		ring_free(p->rx);
		ring_free(p->tx);
		mtx_destroy(p->tx_lock);
		free(p->tx_lock);
	}
}
