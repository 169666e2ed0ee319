#ifndef HUB_FORWARD_H
#define HUB_FORWARD_H

#include "hub.h"

#include <semaphore.h>
#include <threads.h>

/* a thread that empties the rx rings of some ports */
struct forwarder {
	sem_t wake;
	unsigned first, last;	/* ports */
	uint32_t unicast;
	uint32_t flooded;
	uint32_t filtered;
	uint32_t wakeups;
	thrd_t thread;
};

void forward_start(void);
void forward_kick(unsigned port);
void forward_stop(void);

#endif
