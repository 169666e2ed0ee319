#ifndef HUB_STORM_H
#define HUB_STORM_H

#include "hub.h"

void storm_init(void);
bool storm_allow(unsigned port);
void storm_refill(void);
unsigned storm_trips(void);

#endif
