#include "integrate.h"
#include "md.h"

#include <math.h>
#include <stdio.h>

/* one per thread: kinetic energy and where its atoms have been */
static double kinetic[MD_MAX_THREADS];
static int wraps[MD_MAX_THREADS][2];
static uint32_t noise[MD_MAX_THREADS];

static struct {
	float temperature;
	float scale;
	int kicks;
	int rescales;
	int clamped;
} bath = { .scale = 1.0f };

void integrate_init(void)
{
	for (int i = 0; i < MD_MAX_THREADS; i++)
		noise[i] = params.seed + (uint32_t)i * 7919u + 1u;
}

static float fold(float v, int *wrapped)
{
	if (v >= params.box) {
		v -= params.box;
		++*wrapped;
	} else if (v < 0) {
		v += params.box;
		++*wrapped;
	}
	return v;
}

void integrate_step(void)
{
	float dt = params.dt;

#pragma omp parallel
	{
		int me = omp_get_thread_num();

#pragma omp for schedule(static, 5)
		for (int i = 0; i < sys.n; i++) {
			float v2;

			sys.vx[i] = (sys.vx[i] + sys.fx[i] * dt) * bath.scale;
			sys.vy[i] = (sys.vy[i] + sys.fy[i] * dt) * bath.scale;
			sys.vz[i] = (sys.vz[i] + sys.fz[i] * dt) * bath.scale;
			v2 = sys.vx[i] * sys.vx[i] + sys.vy[i] * sys.vy[i] + sys.vz[i] * sys.vz[i];
			sys.x[i] = fold(sys.x[i] + sys.vx[i] * dt, &wraps[me][0]);
			sys.y[i] = fold(sys.y[i] + sys.vy[i] * dt, &wraps[me][0]);
			sys.z[i] = fold(sys.z[i] + sys.vz[i] * dt, &wraps[me][1]);
			kinetic[me] += 0.5 * (double)v2;
			if (v2 * dt * dt > 1e-5f && sys.moved[i] < 200)
				sys.moved[i]++;
		}
	}
	sys.step++;
}

/* random kicks keep the temperature up, a common scale brings it down */
void thermostat(void)
{
	float ke = 0;

	for (int i = 0; i < MD_MAX_THREADS; i++) {
		ke += (float)kinetic[i];
		kinetic[i] = 0;
	}
	bath.temperature = ke * 2.0f / (3.0f * (float)sys.n);
	bath.scale = sqrtf(1.0f + 0.05f * (params.target_temp / (bath.temperature + 1e-6f) - 1.0f));
	if (bath.scale > 1.1f) {
		bath.scale = 1.1f;
		bath.clamped++;
	}
	bath.rescales++;
#pragma omp parallel
	{
		uint32_t *rng = &noise[omp_get_thread_num()];

#pragma omp for schedule(static, 3)
		for (int i = 0; i < sys.n; i++) {
			if (md_rand(rng) % 3)
				continue;
			sys.vx[i] += 0.02f * (md_uniform(rng) - 0.5f);
			sys.vy[i] += 0.02f * (md_uniform(rng) - 0.5f);
#pragma omp atomic
			bath.kicks++;
		}
	}
}

float integrate_temperature(void)
{
	return bath.temperature;
}

void integrate_report(void)
{
	int w = 0;

	for (int i = 0; i < MD_MAX_THREADS; i++)
		w += wraps[i][0] + wraps[i][1];
	printf("integrator: %d steps, %d wraps, %d kicks, %d rescales, %d clamped\n", sys.step, w,
	       bath.kicks, bath.rescales, bath.clamped);
}
