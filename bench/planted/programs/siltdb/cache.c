#include "silt.h"

struct slot {
	uint32_t tag;
	_Atomic int16_t pins;
	uint8_t recent;
	uint8_t age;
};

static struct slot *slots;
static uint32_t clock_hand;

void cache_init(void)
{
	slots = aligned_alloc(64, SILT_CACHE * sizeof *slots);
	if (!slots)
		abort();
	memset(slots, 0, SILT_CACHE * sizeof *slots);
}

static struct slot *slot_of(uint32_t run, uint32_t block)
{
	return &slots[(run * 17 + block) % SILT_CACHE];
}

void cache_pin(uint32_t run, uint32_t block)
{
	struct slot *s = slot_of(run, block);
	uint32_t tag = run << 16 | block;

	atomic_fetch_add_explicit(&s->pins, 1, memory_order_acquire);
	if (s->tag != tag)
		s->tag = tag;
	s->recent = 1;
}

void cache_unpin(uint32_t run, uint32_t block)
{
	atomic_fetch_sub_explicit(&slot_of(run, block)->pins, 1, memory_order_release);
}

/* Clock pass over a few slots. */
unsigned cache_age(void)
{
	unsigned cold = 0;

	for (int k = 0; k < 8; k++) {
		struct slot *s = &slots[clock_hand++ % SILT_CACHE];

		if (atomic_load_explicit(&s->pins, memory_order_relaxed))
			continue;
		if (s->recent)
			s->recent = 0;
		else if (s->age < 255)
			s->age++;
		cold += s->age > 4;
	}
	return cold;
}

uint64_t cache_used(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < SILT_CACHE; i++)
		n += slots[i].tag != 0;
	return n;
}
