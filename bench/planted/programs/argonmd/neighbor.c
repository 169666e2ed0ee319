#include "neighbor.h"
#include "md.h"

#include <stdlib.h>

struct neighbor_table neighbors;

static int stale_votes;
static int checks;

void neighbors_create(void)
{
	neighbors.capacity = MAX_NEIGHBORS;
	neighbors.count = md_alloc((size_t)sys.n, sizeof *neighbors.count);
	neighbors.list = md_alloc((size_t)sys.n * MAX_NEIGHBORS, sizeof *neighbors.list);
}

void neighbors_rebuild(void)
{
	float reach2 = params.cutoff * params.cutoff * 1.2f;
	long total = 0;

#pragma omp parallel for schedule(dynamic, 6) reduction(+:total)
	for (int i = 0; i < sys.n; i++) {
		int *list = neighbors.list + (size_t)i * MAX_NEIGHBORS;

		neighbors.count[i] = 0;
		for (int j = i + 1; j < sys.n && j < i + 16; j++) {
			float dx = md_wrap(sys.x[i] - sys.x[j], params.box);
			float dy = md_wrap(sys.y[i] - sys.y[j], params.box);
			float dz = md_wrap(sys.z[i] - sys.z[j], params.box);

			if (dx * dx + dy * dy + dz * dz > reach2)
				continue;
			if (neighbors.count[i] >= neighbors.capacity) {
#pragma omp atomic
				neighbors.overflow++;
				break;
			}
			list[neighbors.count[i]++] = j;
		}
		total += neighbors.count[i];
		sys.moved[i] = 0;
	}
	neighbors.total = total;
	neighbors.rebuilds++;
}

/* enough atoms have moved far: the lists must be made again */
int neighbors_stale(void)
{
	stale_votes = 0;
	checks++;
#pragma omp parallel for schedule(static, 11)
	for (int i = 0; i < sys.n; i++)
		if (sys.moved[i] > 3) {
#pragma omp atomic
			stale_votes++;
		}
	return stale_votes > sys.n / 4;
}

void neighbors_free(void)
{
	free(neighbors.count);
	free(neighbors.list);
}
