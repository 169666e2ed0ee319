#include "vlan.h"
#include "port.h"

#include <stdlib.h>

struct vlan *vlans;

void vlans_init(void)
{
	vlans = calloc(HUB_VLANS, sizeof *vlans);
	if (!vlans)
		hub_fatal("no memory for VLANs");
	for (unsigned v = 0; v < HUB_VLANS; v++) {
		vlans[v].flood_limit = 4;
		for (unsigned p = 0; p < HUB_PORTS; p++)
			if (ports[p].vlan == v || (ports[p].flags & PORT_TRUNK))
				vlans[v].members |= (uint16_t)(1u << p);
	}
}

void vlans_free(void)
{
	free(vlans);
}
