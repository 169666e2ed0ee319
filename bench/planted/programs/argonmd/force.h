#ifndef MD_FORCE_H
#define MD_FORCE_H

#include <stdint.h>

/* what one thread adds up in the force loop */
struct tally {
	double potential;
	double virial;
	uint32_t pairs;
	uint32_t close;
};

void force_init(void);
void force_compute(void);
double force_potential(void);
void force_report(void);
void force_free(void);

#endif
