#include "gate.h"

/* A token count per connection. The poller spends, the timer refills. */
struct limiter {
	_Atomic int32_t tokens;
	uint32_t delayed;
};

struct limits {
	unsigned conns;
	int32_t burst;
	struct limiter conn[];
};

static struct limits *limits;

void limits_init(unsigned conns, unsigned burst)
{
	limits = calloc(1, sizeof *limits + conns * sizeof limits->conn[0]);
	if (!limits)
		abort();
	limits->conns = conns;
	limits->burst = (int32_t)burst;
	for (unsigned i = 0; i < conns; i++)
		atomic_init(&limits->conn[i].tokens, (int32_t)burst);
}

bool limit_pass(unsigned conn)
{
	struct limiter *l = &limits->conn[conn];

	if (atomic_fetch_sub_explicit(&l->tokens, 1, memory_order_relaxed) > 0)
		return true;
	l->delayed++;
	return false;
}

void limits_refill(void)
{
	for (unsigned i = 0; i < limits->conns; i++)
		atomic_store_explicit(&limits->conn[i].tokens, limits->burst, memory_order_relaxed);
}

uint64_t limits_delayed(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < limits->conns; i++)
		n += limits->conn[i].delayed;
	return n;
}
