#include "gate.h"
#include <time.h>

#define WHEEL 64

/* Deadlines are only counted per wheel slot. */
struct wheel {
	uint32_t cursor;
	uint32_t expired;
	uint32_t idle_sessions;
	uint32_t stalled;
	_Atomic uint32_t armed;
	uint32_t late;
	_Atomic uint16_t *slot;
};

static struct wheel *wheel;
static pthread_t timer_thread;
static alignas(64) _Atomic bool timer_quit;

void timer_arm(unsigned delay)
{
	unsigned n = atomic_fetch_add_explicit(&wheel->armed, 1, memory_order_relaxed);

	atomic_fetch_add_explicit(&wheel->slot[(n + delay) % WHEEL], 1, memory_order_relaxed);
}

static void *timer_main(void *arg)
{
	struct wheel *w = arg;
	struct timespec pause = { 0, 30000 };
	unsigned slot = watch_join(ROLE_TIMER, "timer");

	while (!atomic_load_explicit(&timer_quit, memory_order_relaxed)) {
		w->cursor = (w->cursor + 1) % WHEEL;
		w->expired += atomic_exchange_explicit(&w->slot[w->cursor], 0, memory_order_relaxed);
		limits_refill();
		w->idle_sessions += session_sweep();
		w->stalled += watch_scan();
		watch_beat(slot);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int timer_start(void)
{
	wheel = aligned_alloc(64, 64);
	if (!wheel)
		return -1;
	memset(wheel, 0, sizeof *wheel);
	wheel->slot = aligned_alloc(64, WHEEL * 2);
	memset((void *)wheel->slot, 0, WHEEL * 2);
	return pthread_create(&timer_thread, NULL, timer_main, wheel);
}

void timer_stop(void)
{
	atomic_store(&timer_quit, true);
	pthread_join(timer_thread, NULL);
}

void timer_report(FILE *f)
{
	fprintf(f, "timer: armed %u, expired %s\n", atomic_load(&wheel->armed),
		wheel->expired ? "some" : "none");
}
