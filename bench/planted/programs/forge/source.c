#include "source.h"
#include "util.h"

#include <stdlib.h>

static struct source *sources;
static unsigned n_sources;
static uint32_t *text_pool;
static uint32_t touch_rng;

enum { MIN_WORDS = 12, EXTRA_WORDS = 28 };

void sources_init(unsigned n, unsigned seed)
{
	size_t used = 0;

	touch_rng = seed * 7 + 1;
	n_sources = n;
	sources = xcalloc(n, sizeof *sources);
	text_pool = xmalloc((size_t)n * (MIN_WORDS + EXTRA_WORDS) * sizeof *text_pool);
	for (unsigned i = 0; i < n; i++) {
		struct source *s = &sources[i];

		s->words = MIN_WORDS + rng_step(&touch_rng) % EXTRA_WORDS;
		s->mtime = 1;
		s->text = text_pool + used;
		for (uint32_t k = 0; k < s->words; k++)
			text_pool[used + k] = rng_step(&touch_rng);
		used += s->words;
	}
}

/* somebody edits a third of the files between two builds */
void sources_touch(unsigned round)
{
	for (unsigned i = 0; i < n_sources; i++) {
		struct source *s = &sources[i];

		if (rng_step(&touch_rng) % 3)
			continue;
		s->mtime = round + 2;
		text_pool[s->text - text_pool] ^= round + 1;
	}
}

void sources_free(void)
{
	free(sources);
	free(text_pool);
}

unsigned source_count(void)
{
	return n_sources;
}

uint32_t source_mtime(unsigned id)
{
	return sources[id].mtime;
}

const uint32_t *source_open(unsigned id, uint32_t *words)
{
	struct source *s = &sources[id];

	atomic_fetch_add_explicit(&s->readers, 1, memory_order_acquire);
	*words = s->words;
	return s->text;
}

void source_close(unsigned id, uint32_t digest)
{
	struct source *s = &sources[id];

	s->digest = digest;
	atomic_fetch_sub_explicit(&s->readers, 1, memory_order_release);
}
