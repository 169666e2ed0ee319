#include "silt.h"

static inline uint32_t key_hash(uint32_t key)
{
	return key * 0x9E3779B1u;
}

struct memtable *mem_create(void)
{
	struct memtable *m = aligned_alloc(64, sizeof *m);

	if (!m)
		abort();
	memset(m, 0, sizeof *m);
	return m;
}

static void bloom_add(struct memtable *m, uint32_t h)
{
	atomic_fetch_or_explicit(&m->bloom[(h >> 8) & 31], 1u << (h & 31), memory_order_relaxed);
}

static bool bloom_maybe(struct memtable *m, uint32_t h)
{
	return atomic_load_explicit(&m->bloom[(h >> 8) & 31], memory_order_relaxed) >> (h & 31) & 1;
}

/* Keys are never taken out; a second put of a key changes its node. */
unsigned mem_put(struct memtable *m, unsigned writer, uint32_t key, uint32_t val)
{
	struct arena *a = &m->arenas[writer];
	uint32_t h = key_hash(key);
	_Atomic(struct node *) *b = &m->bucket[h >> 24];
	struct node *n, *first = atomic_load_explicit(b, memory_order_acquire);
	unsigned steps = 1;

	bloom_add(m, h);
	a->bytes += sizeof key + sizeof val;
	for (n = first; n; n = n->next, steps++)
		if (n->key == key) {
			atomic_store_explicit(&n->val, val, memory_order_release);
			return steps;
		}
	n = arena_alloc(a, sizeof *n);
	n->key = key;
	atomic_init(&n->val, val);
	do
		n->next = first;
	while (!atomic_compare_exchange_weak_explicit(b, &first, n, memory_order_release,
						      memory_order_acquire));
	return steps;
}

bool mem_get(struct memtable *m, uint32_t key, uint32_t *val, unsigned *steps)
{
	uint32_t h = key_hash(key);
	struct node *n;

	if (!bloom_maybe(m, h))
		return false;
	n = atomic_load_explicit(&m->bucket[h >> 24], memory_order_acquire);
	for (; n; n = n->next, ++*steps)
		if (n->key == key) {
			*val = atomic_load_explicit(&n->val, memory_order_acquire);
			return true;
		}
	return false;
}
