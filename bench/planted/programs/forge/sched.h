#ifndef FORGE_SCHED_H
#define FORGE_SCHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MAX_WORKERS 16

struct worker {
	uint32_t built;
	uint32_t reused;
	uint32_t failed;
	uint32_t waits;
	int32_t current;	/* target, or -1 */
	uint32_t scratch_words;
};

/* scratch memory of one compiler process, reused from job to job */
struct toolchain {
	uint32_t seed;
	uint32_t level;
	uint32_t tokens;
	uint32_t symbols;
	uint32_t lines;
	uint32_t warnings;
};

struct progress {
	_Atomic uint32_t started;
	_Atomic uint32_t finished;
	_Atomic uint32_t errors;
	uint32_t total;		/* of the round */
	uint32_t shown;		/* last line that the status thread drew */
	uint32_t redraws;
	uint32_t rate;
};

extern struct progress progress;
extern struct worker workers[MAX_WORKERS];
extern uint8_t stale[];

void sched_start(int jobs);
bool sched_build(void);		/* one round; false if a target failed */
void sched_stop(void);

#endif
