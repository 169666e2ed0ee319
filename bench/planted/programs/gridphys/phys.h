/* gridphys: particles on a grid, moved by a pool of C11 threads. */
#ifndef PHYS_H
#define PHYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <threads.h>

#define WORKERS 3
#define PARTICLES 48
#define NEIGHBOURS 5
#define CELLS 48
#define BODIES 4
#define TASK_PARTICLES 4
#define LINE 64

/* ---- conf.c ---- */

struct params {
	_Alignas(LINE) float dt;
	float gravity;
	float damping;
	float cutoff;
	uint32_t probe_every;
	uint32_t report;
	atomic_ulong pairs;		/* pairs that were near, all workers */
};

extern struct params params;
extern int log_level;

int params_read(int argc, char **argv, long *rounds);
void note(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void notes_print(void);

/* ---- pool.c ---- */

struct sim;

struct task {
	void (*run)(struct sim *s, int first, int last);
	int first;
	int last;
};

/* A worker's own tasks; the others steal from it when they have none. */
struct deque {
	mtx_t lock;
	int top;
	int bottom;
	struct task *tasks;
};

struct worker {
	struct sim *sim;
	int id;
	uint32_t steals;
	uint64_t tasks;			/* that this worker ran */
};

struct meeting {
	mtx_t lock;
	cnd_t all_here;
	int here;
	int wanted;
	unsigned turn;
};

struct pool {
	_Alignas(LINE) struct deque *deques;
	struct worker *workers;
	int phase;			/* changes between meetings only */
	atomic_int pending;		/* tasks of this phase that are not done */
	atomic_uint idle_turns;
	_Alignas(LINE) struct meeting meeting;
};

extern _Thread_local int worker_id;

int pool_init(struct pool *p, struct sim *s);
void pool_fill(struct pool *p, int id, void (*run)(struct sim *, int, int), int items, int per_task);
void pool_work(struct pool *p, struct worker *w);
void pool_meet(struct pool *p);
void pool_destroy(struct pool *p);

/* ---- grid.c ---- */

struct particle {
	float x, y;
	float vx, vy;
	float fx, fy;
	uint32_t hits;
	uint16_t cell;
	uint16_t number;
};

struct cell {
	float density;
	float flow;
	uint32_t visits;
	uint32_t pad;
};

/* A fixed body; tasks hold it while they use it. */
struct body {
	atomic_uint refs;
	float x, y, radius;
};

struct rng {
	uint32_t state;
	uint32_t drawn;
};

struct grid {
	struct particle *particles[PARTICLES];
	struct cell *cells;
	struct body *bodies[BODIES];
	struct rng *rngs[WORKERS];
	float walls[8];			/* set in the first phase, used in the second */
};

extern uint8_t cell_active[CELLS];
extern unsigned long nan_count, escape_count;

int grid_init(struct grid *g);
void grid_destroy(struct grid *g);
double grid_checksum(const struct grid *g);
uint32_t rng_next(struct rng *r);

/* ---- force.c ---- */

struct accumulator {
	_Alignas(LINE) double kinetic;
	double drift;
};

extern double partial_energy[WORKERS];
extern struct accumulator accumulators[WORKERS];

void force_task(struct sim *s, int first, int last);
void move_task(struct sim *s, int first, int last);
void cell_task(struct sim *s, int first, int last);
unsigned long contacts_total(void);

/* ---- observe.c ---- */

struct tuning {
	_Alignas(LINE) atomic_uint level;	/* workers look at it before each task */
	atomic_uint suggested;			/* the tuner writes here all the time */
	float gain;
};

struct history {
	mtx_t lock;
	uint32_t used;
	float last;
	atomic_uint wanted;		/* workers look, without the lock */
	float values[32];
};

struct observer {
	_Alignas(LINE) uint64_t samples;
	double sum;
};

extern struct tuning tuning;
extern atomic_ulong tuner_ticks;

struct sim {
	struct grid grid;
	struct pool pool;
	_Alignas(LINE) struct history history;
	struct observer observer;
	long rounds;
	double energy;
	once_flag started;
};

int observer_main(void *arg);
int tuner_main(void *arg);

#endif
