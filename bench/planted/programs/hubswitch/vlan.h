#ifndef HUB_VLAN_H
#define HUB_VLAN_H

#include "hub.h"

struct vlan {
	uint16_t members;	/* one bit per port */
	uint16_t flood_limit;
	_Atomic uint32_t frames;
	_Atomic uint32_t floods;
	uint32_t denied;
};

extern struct vlan *vlans;

void vlans_init(void);
void vlans_free(void);

static inline bool vlan_has(const struct vlan *v, unsigned port)
{
	return v->members >> port & 1;
}

#endif
