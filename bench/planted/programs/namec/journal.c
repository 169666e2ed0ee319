#include "namec.h"

#define SEEN_WORDS	8

static u64 seen_map[SEEN_WORDS] __attribute__((aligned(64)));
static u32 rtt_hist[16] __aligned_line;

struct journal {
	u32	level;
	u32	mask;
	u32	seq;
	u32	last;
};

static struct journal jr __aligned_line;
static u32 jr_ring[64] __aligned_line;

void journal_setup(u32 level)
{
	jr.level = level;
	jr.mask = 63;
}

u32 journal_level(void)
{
	return READ_ONCE(jr.level);
}

/* A client has asked for a name. */
void journal_note(u32 client, u32 hash)
{
	seen_map[client & (SEEN_WORDS - 1)] |= 1ull << (hash & 63);
}

static u32 rtt_slot(u32 rtt)
{
	u32 slot = 31 - __builtin_clz(rtt | 1);

	return slot < 15 ? slot : 15;
}

/* An upstream has answered. */
void journal_answer(u32 hash, u32 rtt)
{
	u32 slot = rtt_slot(rtt);
	u32 seq;

	__atomic_fetch_add(&rtt_hist[slot], 1, __ATOMIC_RELAXED);
	seq = __atomic_fetch_add(&jr.seq, 1, __ATOMIC_RELAXED);
	WRITE_ONCE(jr.last, hash);
	WRITE_ONCE(jr_ring[seq & 63], hash);
}

u64 journal_digest(void)
{
	u64 d = jr.seq;

	for (int i = 0; i < SEEN_WORDS; i++)
		d ^= seen_map[i];
	for (int i = 0; i < 16; i++)
		d += (u64)rtt_hist[i] << i;
	return d;
}
