#include <stdio.h>
#include <string.h>
#include "namec.h"

struct client_totals {
	u64	asked;
	u64	missed;
	u64	refused;
} __aligned_line;

static struct client_totals totals[NR_CLIENTS_MAX];
static __thread u32 my_rng;
static __thread char scratch[NAME_MAX_LEN];

static u32 client_random(void)
{
	my_rng = my_rng * 1664525u + 1013904223u;
	return my_rng >> 12;
}

static void make_name(struct query *q, u32 n)
{
	static const char hex[] = "0123456789abcdef";
	u32 i;

	scratch[0] = 'h';
	for (i = 1; i < 5; i++) {
		scratch[i] = hex[n & 15];
		n >>= 4;
	}
	scratch[i++] = '.';
	scratch[i++] = 'z';
	q->len = (u8)i;
	memcpy(q->name, scratch, sizeof(q->name));
	q->hash = name_hash(q->name, q->len);
}

void *client_thread(void *arg)
{
	struct client_args *a = arg;
	struct client_totals *t = &totals[a->id];
	struct limiter *lim = limiter_get(a->id, 16);
	struct query q;

	memset(&q, 0, sizeof(q));
	q.client = a->id;
	my_rng = 2463534242u + a->id;
	pthread_barrier_wait(a->gate);
	for (u32 i = 0; i < a->nr_queries; i++) {
		make_name(&q, client_random() % a->nr_names);
		t->asked++;
		if (zones_deny(a->zones, q.hash) || !limiter_take(lim, clk_now())) {
			t->refused++;
			continue;
		}
		if (journal_level() > 1)
			fprintf(stderr, "client %u: %s\n", a->id, q.name);
		journal_note(a->id, q.hash);
		if (cache_lookup(a->cache, &q) == RC_MISS) {
			t->missed++;
			upstream_resolve(a->ups, &q);
		}
		if (clk_trace_on())
			fprintf(stderr, "%s = %08x\n", q.name, q.addr);
	}
	return NULL;
}

void clients_print(u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		printf("client %u: asked %llu missed %s\n", i,
		       (unsigned long long)totals[i].asked,
		       totals[i].missed ? "some" : "none");
}
