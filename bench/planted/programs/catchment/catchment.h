/* catchment: rain, run-off and erosion on a height field. */
#ifndef CATCHMENT_H
#define CATCHMENT_H

#include <omp.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 8
#define BASINS      24
#define CLASSES     10
#define GAUGES      18
#define DROPLETS    30

struct field {
	int width;		/* cells used in a row */
	int height;
	int stride;		/* floats from row to row of elev */
	float *elev;		/* bed height, rows padded */
	float *water;		/* depth, rows not padded */
	float *sediment;
	int *inflow;		/* what arrives in this step */
	unsigned char *basin;	/* which basin a cell drains to */
};

struct params {
	int threads;
	int steps;
	float rain;
	float infiltration;
	float capacity;
	uint32_t seed;
};

/* util.c */
void *must_alloc(size_t n);
void *must_alloc_lines(size_t n);
uint32_t rand_next(uint32_t *s);

/* terrain.c */
struct field *terrain_create(int width, int height, uint32_t seed);
void terrain_free(struct field *f);
int terrain_downhill(const struct field *f, int x, int y);

/* rain.c */
struct station {
	uint32_t state;
	uint32_t draws;
	float fallen;
};
struct weather {
	struct station *station;	/* one per thread */
	int count;
};
struct weather *weather_create(int threads, uint32_t seed);
void rain_step(struct field *f, struct weather *w, const struct params *p);
double weather_total(const struct weather *w);

/* flow.c */
void flow_init(int threads);
void flow_route(struct field *f, const struct params *p);
void flow_apply(struct field *f, const struct params *p);
double flow_volume(void);
void flow_report(FILE *out);

/* erosion.c */
struct sweep {
	int next;
	int strips;
	float rate;
	float limit;
	long lifted;
	long refused;
};
void erosion_init(void);
void erosion_step(struct field *f, const struct params *p);
long erosion_lifted(void);

/* gauge.c */
struct gauge {
	int cell;
	uint32_t readings;
	float level;
};
void gauges_init(const struct field *f);
void gauges_step(const struct field *f, const struct params *p);
void gauges_report(FILE *out);

/* droplet.c */
struct droplet {
	float x, y;
	float load;
	uint32_t moves;
	uint32_t state;
	uint32_t lost;
};
void droplets_init(const struct field *f, uint32_t seed);
void droplets_step(const struct field *f, const struct params *p);
void droplets_report(FILE *out);

/* balance.c */
void balance_step(const struct field *f, const struct params *p);
void balance_report(FILE *out);

#endif
