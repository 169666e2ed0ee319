#include "graph.h"
#include "source.h"
#include "util.h"

#include <stdlib.h>

struct graph graph;

#define MAX_FANOUT 3

static uint8_t pick_rule(uint32_t i, uint32_t n, uint32_t r)
{
	if (i + 4 >= n)
		return RULE_LINK;
	if (r % 11 == 0)
		return RULE_ARCHIVE;
	return r % 5 == 0 ? RULE_COPY : RULE_COMPILE;
}

/*
 * A tree such as a medium-sized project has: a target is needed by up to
 * three that come some way behind it, the last few link everything.
 */
void graph_generate(unsigned n, unsigned seed)
{
	uint32_t rng = seed | 1, cap = n * MAX_FANOUT;

	graph.n_targets = n;
	graph.n_edges = 0;
	graph.targets = xcalloc(n, sizeof *graph.targets);
	graph.edges = xmalloc(cap * sizeof *graph.edges);
	for (uint32_t i = 0; i < n; i++) {
		struct target *t = &graph.targets[i];
		uint32_t want = 1 + rng_step(&rng) % MAX_FANOUT;

		t->rule = pick_rule(i, n, rng_step(&rng));
		t->source = (uint16_t)(rng_step(&rng) % source_count());
		t->first_out = graph.n_edges;
		for (uint32_t k = 0; k < want; k++) {
			uint32_t to = i + 12 + rng_step(&rng) % 90;

			if (to >= n)
				continue;
			graph.edges[graph.n_edges++] = to;
			graph.targets[to].n_in++;
			t->n_out++;
		}
	}
	graph_reset_round();
}

void graph_reset_round(void)
{
	for (uint32_t i = 0; i < graph.n_targets; i++) {
		struct target *t = &graph.targets[i];

		atomic_store_explicit(&t->pending, t->n_in, memory_order_relaxed);
		t->state = T_WAITING;
		t->input_hash = 0;
	}
}

void graph_free(void)
{
	free(graph.targets);
	free(graph.edges);
	graph.targets = NULL;
	graph.edges = NULL;
}
