#ifndef MD_H
#define MD_H

#include <omp.h>
#include <stddef.h>
#include <stdint.h>

#define MD_MAX_THREADS 8
#define MD_BINS 24
#define MD_SPECIES 3

/* parameters of the run; read only once the simulation has started */
struct params {
	int atoms;
	int steps;
	int threads;
	unsigned seed;
	float box;
	float cutoff;
	float dt;
	float target_temp;
	int rebuild_every;
	int verbose;
};

extern struct params params;

struct system {
	int n;
	float *x, *y, *z;
	float *vx, *vy, *vz;
	float *fx, *fy, *fz;
	uint8_t *species;
	uint8_t *moved;		/* left its cell since the last rebuild */
	int step;
};

extern struct system sys;

void system_create(void);
void system_free(void);

void *md_alloc(size_t n, size_t size);
void md_fatal(const char *what) __attribute__((noreturn));

static inline uint32_t md_rand(uint32_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 17;
	*s ^= *s << 5;
	return *s;
}

static inline float md_uniform(uint32_t *s)
{
	return (float)(md_rand(s) >> 8) * (1.0f / 16777216.0f);
}

static inline float md_wrap(float d, float box)
{
	if (d > box * 0.5f)
		return d - box;
	if (d < -box * 0.5f)
		return d + box;
	return d;
}

#endif
