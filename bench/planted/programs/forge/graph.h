#ifndef FORGE_GRAPH_H
#define FORGE_GRAPH_H

#include <stdatomic.h>
#include <stdint.h>

enum rule { RULE_COPY, RULE_COMPILE, RULE_ARCHIVE, RULE_LINK, RULE_MAX };

enum target_state { T_WAITING, T_QUEUED, T_RUNNING, T_DONE, T_FAILED };

/* One node of the build graph. Edges live in graph.edges. */
struct target {
	uint32_t first_out;	/* edges to the targets that need this one */
	uint16_t n_out;
	uint16_t n_in;
	uint8_t rule;
	uint8_t state;
	uint16_t source;	/* the file it is made from */
	_Atomic int pending;	/* inputs that are not built yet */
	uint32_t input_hash;
	uint32_t output_hash;
};

struct graph {
	struct target *targets;
	uint32_t *edges;
	uint32_t n_targets;
	uint32_t n_edges;
};

extern struct graph graph;

void graph_generate(unsigned n, unsigned seed);
void graph_reset_round(void);
void graph_free(void);

#endif
