/* the threads that look on: scavenger and heap profiler */
#include "rt.h"

#include <sched.h>

#define PROF_SLOTS	128

struct prof_sample { uint32_t ps_thread, ps_size; };

/* one queue for all threads, producers take the lock */
struct prof_queue {
	rt_lock_t	pq_lock;
	uint32_t	pq_in;
	uint32_t	pq_out;
	uint32_t	pq_dropped;
	struct prof_sample *pq_ring;
};

static struct prof_queue *prof;
static uint64_t prof_bytes[RT_MAX_THREADS];
static uint32_t prof_histogram[8];
static struct { uint32_t rounds, released, scanned; } scav;

void prof_init(void)
{
	prof = calloc(1, sizeof *prof);
	RT_CHECK(prof);
	prof->pq_ring = calloc(PROF_SLOTS, sizeof *prof->pq_ring);
	RT_CHECK(prof->pq_ring);
}

void prof_hook(int thread, size_t size)
{
	struct prof_sample s = { thread, size };

	rt_lock(&prof->pq_lock);
	if (prof->pq_in - __atomic_load_n(&prof->pq_out, __ATOMIC_ACQUIRE) < PROF_SLOTS) {
		prof->pq_ring[prof->pq_in % PROF_SLOTS] = s;
		__atomic_store_n(&prof->pq_in, prof->pq_in + 1, __ATOMIC_RELEASE);
	} else
		prof->pq_dropped++;
	rt_unlock(&prof->pq_lock);
	atomic_fetch_add_explicit(&rt->samples_taken, 1, memory_order_relaxed);
}

void *prof_main(void *arg)
{
	struct prof_queue *q = prof;

	(void)arg;
	while (atomic_load_explicit(&rt_running, memory_order_relaxed)) {
		uint32_t in = __atomic_load_n(&q->pq_in, __ATOMIC_ACQUIRE);

		if (in == q->pq_out) {
			sched_yield();
			continue;
		}
		while (q->pq_out != in) {
			struct prof_sample *s = &q->pq_ring[q->pq_out % PROF_SLOTS];
			prof_bytes[s->ps_thread] += s->ps_size;
			prof_histogram[(s->ps_size / 16) & 7]++;
			__atomic_store_n(&q->pq_out, q->pq_out + 1, __ATOMIC_RELEASE);
		}
	}
	rt_logf(1, "profiler: %u samples, %u dropped", q->pq_in, q->pq_dropped);
	return NULL;
}

/*
 * Goes over the spans and ages those that have few cells in use.  What has
 * become old would be handed back with madvise(); the arena is so small that
 * it only counts them.
 */
void *scav_main(void *arg)
{
	uint32_t hand = 0;

	(void)arg;
	while (atomic_load_explicit(&rt_running, memory_order_relaxed)) {
		uint32_t pages = atomic_load_explicit(&rt->next_page, memory_order_relaxed);
		uint32_t busy = 0;

		for (int i = 0; i < 16 && pages; i++) {
			rt_span *sp = __atomic_load_n(&rt->span_of[hand++ % pages % rt->npages], __ATOMIC_ACQUIRE);

			if (!sp)
				continue;
			scav.scanned++;
			busy += sp->sp_used;
			if (sp->sp_used < 4)
				sp->sp_age++;
			else
				sp->sp_age /= 2;
			if (sp->sp_age > 100000) {
				sp->sp_age = 0;
				scav.released++;
			}
		}
		atomic_store_explicit(&rt->pressure, busy > 900, memory_order_relaxed);
		scav.rounds++;
		sched_yield();
	}
	rt_logf(1, "scavenger: %u rounds, %u spans scanned, %u released", scav.rounds, scav.scanned, scav.released);
	return NULL;
}
