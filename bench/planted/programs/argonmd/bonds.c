#include "bonds.h"
#include "md.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N_LOCKS 8

static struct bond **bonds;
static int n_bonds;
static omp_lock_t locks[N_LOCKS];
static struct {
	int next;		/* cursor of the work */
	int chunk;
	float stiffness;
	float limit;
	int broken;
} work = { .chunk = 2, .stiffness = 0.3f, .limit = 4.0f };

void bonds_create(void)
{
	n_bonds = sys.n - 2;
	bonds = md_alloc((size_t)n_bonds, sizeof *bonds);
	for (int i = 0; i < n_bonds; i++) {
		bonds[i] = md_alloc(1, sizeof **bonds);
		bonds[i]->a = i;
		bonds[i]->b = i + 1 + i % 2;
		bonds[i]->length = 0.8f;
	}
	for (int i = 0; i < N_LOCKS; i++)
		omp_init_lock(&locks[i]);
}

static void pull(int atom, float fx)
{
	omp_lock_t *l = &locks[atom / 4 % N_LOCKS];

	omp_set_lock(l);
	sys.fx[atom] += fx;
	omp_unset_lock(l);
}

void bonds_apply(void)
{
	work.next = 0;
#pragma omp parallel
	for (;;) {
		int from;

#pragma omp atomic capture
		{
			from = work.next;
			work.next += work.chunk;
		}
		if (from >= n_bonds)
			break;
		for (int i = from; i < from + work.chunk && i < n_bonds; i++) {
			struct bond *b = bonds[i];
			float dx = md_wrap(sys.x[b->a] - sys.x[b->b], params.box);

			b->tension = (fabsf(dx) - b->length) * work.stiffness;
			if (fabsf(dx) > work.limit)
				b->stretched++;
			pull(b->a, dx > 0 ? -b->tension : b->tension);
			pull(b->b, dx > 0 ? b->tension : -b->tension);
		}
	}
}

void bonds_report(void)
{
	long stretched = 0;
	float most = 0;

	for (int i = 0; i < n_bonds; i++) {
		stretched += bonds[i]->stretched;
		if (bonds[i]->tension > most)
			most = bonds[i]->tension;
	}
	printf("bonds: %d, %ld times stretched, %d broken, tension up to %.3f\n", n_bonds, stretched,
	       work.broken, (double)most);
}

void bonds_free(void)
{
	for (int i = 0; i < n_bonds; i++)
		free(bonds[i]);
	free(bonds);
	for (int i = 0; i < N_LOCKS; i++)
		omp_destroy_lock(&locks[i]);
}
