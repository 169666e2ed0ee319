/* In the style of a block layer. */
/*
 * Tags.  Taken bits are set in ->word; what completes is noted in ->cleared and
 * swapped over when a word has run out.
 */
#include "blk.h"

static struct sbitmap tags;

int __init sbitmap_init(u32 nr_words)
{
	u32 i;

	tags.map = kcalloc(nr_words, sizeof(*tags.map));
	if (!tags.map)
		return -ENOMEM;
	tags.nr_words = nr_words;
	tags.depth = nr_words * TAGS_PER_WORD;
	for (i = 0; i < nr_words; i++)
		tags.map[i].depth = TAGS_PER_WORD;
	return 0;
}

static bool sbitmap_deferred_clear(struct sbitmap_word *map)
{
	u32 mask = __atomic_exchange_n(&map->cleared, 0, __ATOMIC_ACQ_REL);

	if (!mask)
		return false;
	__atomic_and_fetch(&map->word, ~mask, __ATOMIC_ACQ_REL);
	map->swaps++;
	return true;
}

static int sbitmap_get_word(struct sbitmap_word *map)
{
	u32 old = READ_ONCE(map->word);
	int nr;

	while (old != ~0u) {
		nr = __builtin_ctz(~old);
		old = __atomic_fetch_or(&map->word, 1u << nr, __ATOMIC_ACQ_REL);
		if (!(old & (1u << nr)))
			return nr;
	}
	return -1;
}

int sbitmap_get(u32 hint)
{
	u32 i, w;
	int nr;

	for (i = 0; i < tags.nr_words; i++) {
		w = (hint + i) % tags.nr_words;
		nr = sbitmap_get_word(&tags.map[w]);
		if (nr < 0 && sbitmap_deferred_clear(&tags.map[w]))
			nr = sbitmap_get_word(&tags.map[w]);
		if (nr >= 0)
			return w * TAGS_PER_WORD + nr;
	}
	return -EBUSY;
}

void sbitmap_clear(u32 tag)
{
	struct sbitmap_word *map;

	if (unlikely(tag >= tags.depth)) {
		nr_bad_tags++;
		return;
	}
	map = &tags.map[tag / TAGS_PER_WORD];
	__atomic_or_fetch(&map->cleared, 1u << (tag % TAGS_PER_WORD), __ATOMIC_RELEASE);
}
