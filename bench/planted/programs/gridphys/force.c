/* What the tasks do: forces, then moves, then the cells. */
#include "phys.h"

#include <math.h>
#include <stdlib.h>

double partial_energy[WORKERS];
struct accumulator accumulators[WORKERS];

/* Counted by all workers; the two beside it are only read. */
static struct {
	atomic_ulong contacts;
	float softening;
	float repulsion;
} contact = { .softening = 0.05f, .repulsion = 0.3f };

static struct body *body_hold(struct grid *g, int n)
{
	struct body *b = g->bodies[n % BODIES];

	atomic_fetch_add_explicit(&b->refs, 1, memory_order_acquire);
	return b;
}

static void body_drop(struct body *b)
{
	if (atomic_fetch_sub_explicit(&b->refs, 1, memory_order_release) == 1)
		free(b);
}

static uint32_t throttle(const struct sim *s)
{
	uint32_t n = atomic_load_explicit(&tuning.level, memory_order_relaxed);

	if (atomic_load_explicit(&s->history.wanted, memory_order_relaxed) > 1000000u)
		n++;
	return n;
}

void force_task(struct sim *s, int first, int last)
{
	struct grid *g = &s->grid;
	uint32_t level = throttle(s);
	unsigned near = 0;

	for (int i = first; i < last; i++) {
		struct particle *p = g->particles[i];
		float fx = 0, fy = params.gravity;

		for (int k = 1; k <= NEIGHBOURS; k++) {
			const struct particle *q = g->particles[(i + k * 2) % PARTICLES];
			float dx = p->x - q->x, dy = p->y - q->y;
			float d2 = dx * dx + dy * dy + contact.softening;

			if (d2 < params.cutoff) {
				fx += dx * contact.repulsion / d2;
				fy += dy * contact.repulsion / d2;
				near++;
			}
		}
		p->fx = fx;
		p->fy = fy;
		p->hits++;
		if (level > 1000u)
			thrd_yield();
	}
	if (near)
		atomic_fetch_add_explicit(&params.pairs, near, memory_order_relaxed);
	if (first == 0)
		for (int i = 0; i < 8; i++)
			g->walls[i] = 10.0f + (float)(s->pool.phase & 3) * 0.01f;
}

void move_task(struct sim *s, int first, int last)
{
	struct grid *g = &s->grid;
	struct rng *r = g->rngs[worker_id];

	for (int i = first; i < last; i++) {
		struct particle *p = g->particles[i];
		const struct body *b = g->bodies[(i + worker_id) % BODIES];
		float wall = g->walls[i & 7];
		float jitter = (float)(rng_next(r) & 255) / 25600.0f;

		p->vx = p->vx * params.damping + p->fx * params.dt;
		p->vy = p->vy * params.damping + p->fy * params.dt;
		p->x += p->vx * params.dt + jitter * 0.01f;
		p->y += p->vy * params.dt;
		if (p->x < 0 || p->x > wall)
			p->vx = -p->vx;
		if (p->y < 0 || p->y > wall)
			p->vy = -p->vy;
		float dx = p->x - b->x, dy = p->y - b->y;
		if (dx * dx + dy * dy < b->radius) {
			p->vx += dx * 0.01f;
			atomic_fetch_add_explicit(&contact.contacts, 1, memory_order_relaxed);
		}
		if (isnan(p->x)) {
			nan_count++;
			note(0, "particle %d is lost", p->number);
			p->x = p->y = 1.0f;
		}
		if (p->x < -100.0f || p->x > 100.0f) {
			escape_count++;
			p->x = 5.0f;
		}
		partial_energy[worker_id] += p->vx * p->vx + p->vy * p->vy;
		accumulators[worker_id].kinetic += p->vx;
		accumulators[worker_id].drift += p->vy;
	}
	struct body *held = body_hold(g, first / TASK_PARTICLES);
	float pull = (held->x - 5.0f) * 0.0001f;
	for (int i = first; i < last; i++)
		g->particles[i]->vx -= pull;
	body_drop(held);
}

/* Every cell is a task's own, but neighbours belong to different tasks. */
void cell_task(struct sim *s, int first, int last)
{
	struct grid *g = &s->grid;
	uint32_t level = throttle(s);

	for (int i = first; i < last; i++) {
		struct cell *c = &g->cells[i];
		float d = c->density;

		for (int k = 0; k < 6; k++) {
			const struct particle *p = g->particles[(i + k * 7) % PARTICLES];
			d = d * 0.9f + p->x * 0.01f + p->y * 0.02f;
		}
		c->flow = d - c->density;
		c->density = d;
		c->visits += 1 + (level > 1000000u);
		cell_active[i] = d > 1.0f;
	}
}

unsigned long contacts_total(void)
{
	return atomic_load(&contact.contacts);
}
