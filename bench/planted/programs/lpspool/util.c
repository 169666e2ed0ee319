/*
 * Odds and ends: memory, notes for the operator, numbers.
 */
#include <sched.h>
#include "lpspool.h"

#define NNOTE	32

/* The notes are few, and all of them are under the one lock. */
static pthread_mutex_t	notelock = PTHREAD_MUTEX_INITIALIZER;
static int		nnotes;
static struct {
	const char	*text;
	int		 value;
} notes[NNOTE];

void *
emalloc(size_t n)
{
	void *p;

	p = calloc(1, n);
	if (p == NULL)
		fatal("out of memory");
	return p;
}

void
note(const char *text, int value)
{
	pthread_mutex_lock(&notelock);
	if (nnotes < NNOTE) {
		notes[nnotes].text = text;
		notes[nnotes].value = value;
	}
	nnotes++;
	pthread_mutex_unlock(&notelock);
}

void
note_dump(FILE *fp)
{
	int i;

	pthread_mutex_lock(&notelock);
	for (i = 0; i < nnotes && i < NNOTE; i++)
		fprintf(fp, "note: %s %d\n", notes[i].text, notes[i].value);
	pthread_mutex_unlock(&notelock);
}

void
fatal(const char *why)
{
	fprintf(stderr, "lpspool: %s\n", why);
	exit(1);
}

void
nap(void)
{
	sched_yield();
}

uint32_t
rnd(uint32_t *state)
{
	uint32_t x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return x;
}
