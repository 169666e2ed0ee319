#ifndef HUB_PORT_H
#define HUB_PORT_H

#include "hub.h"

#include <threads.h>

enum port_flags { PORT_UP = 1, PORT_TRUNK = 2, PORT_BLOCKED = 4 };

struct port {
	struct ring *rx;
	struct ring *tx;
	uint16_t id;
	uint16_t flags;
	uint16_t vlan;		/* of untagged frames */
	uint16_t mtu;
	uint32_t rx_frames;	/* driver */
	uint32_t rx_bytes;
	uint32_t rx_dropped;
	uint32_t tx_frames;	/* forwarders, under tx_lock */
	uint32_t tx_bytes;
	uint32_t tx_dropped;
	mtx_t *tx_lock;
};

extern struct port ports[HUB_PORTS];

void ports_init(void);
bool port_receive(struct port *p, struct frame *f);
bool port_send(struct port *p, struct frame *f);
void ports_destroy(void);

#endif
