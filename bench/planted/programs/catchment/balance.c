#include "catchment.h"
#include <sched.h>

/* What is where; two independent sums that are made side by side. */
static alignas(64) struct {
	double stored;
	double bed;
	long samples;
	long bed_samples;
	long negative;
} balance;

static double table[64];

static void fill_table(const struct params *p)
{
	if (table[1] != 0.0)
		return;
#pragma omp parallel num_threads(p->threads)
	{
#pragma omp single
		for (int i = 0; i < 64; i++)
			table[i] = 1.0 + i / 64.0;
	}
}

void balance_step(const struct field *f, const struct params *p)
{
	int cells = f->width * f->height, wet = 0, worn = 0;

	fill_table(p);
#pragma omp parallel sections num_threads(p->threads) shared(wet, worn)
	{
#pragma omp section
		for (int c = 0; c < cells; c += 4) {
			float d = f->water[c];

			if (d > 0.0f) {
#pragma omp atomic
				wet++;
			}
			balance.stored += d * table[c & 63];
			balance.samples++;
			if ((c & 255) == 0)
				sched_yield();
		}
#pragma omp section
		for (int c = 0; c < cells; c += 4) {
			float s = f->sediment[c];

			if (s < 1.0f) {
#pragma omp atomic
				worn++;
			}
			balance.bed += s * table[c & 63];
			balance.bed_samples++;
			if ((c & 255) == 0)
				sched_yield();
		}
	}
	if (wet + worn < 0)
		balance.negative++;
}

void balance_report(FILE *out)
{
	fprintf(out, "balance: %ld samples, %ld bed samples, %ld negative\n", balance.samples,
		balance.bed_samples, balance.negative);
}
