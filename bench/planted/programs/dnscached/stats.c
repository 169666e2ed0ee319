#include "dnscached.h"

uint32_t g_rcodes[MAX_WORKERS][RC_MAX] __attribute__((aligned(CACHELINE)));
struct wstat g_wstat[MAX_WORKERS];
struct errstat g_err __attribute__((aligned(CACHELINE)));

/* addresses given out lately, for the operator's console */
static struct {
	uint32_t addr[12];
	_Atomic unsigned next;
} trail __attribute__((aligned(CACHELINE)));

void stats_rcode(int worker, int rc)
{
	g_rcodes[worker][rc]++;
}

void stats_reply(int worker, size_t len)
{
	struct wstat *w = &g_wstat[worker];
	w->bytes += len;
	if (len > w->longest)
		w->longest = len;
	if (len > 512)
		w->truncated++;
}

void stats_error(int what)
{
	if (what == 0)
		g_err.short_read++;
	else if (what == 1)
		g_err.bad_name++;
	else
		g_err.bad_type++;
}

/* every worker claims the next cell of the trail and fills it */
void trail_push(uint32_t addr)
{
	unsigned n = atomic_fetch_add_explicit(&trail.next, 1, memory_order_relaxed);
	trail.addr[n % 12] = addr;
}

unsigned trail_count(void)
{
	return atomic_load(&trail.next);
}

void stats_print(FILE *f)
{
	uint64_t rc[RC_MAX] = { 0 }, bytes = 0;
	for (int w = 0; w < MAX_WORKERS; w++) {
		for (int i = 0; i < RC_MAX; i++)
			rc[i] += g_rcodes[w][i];
		bytes += g_wstat[w].bytes;
	}
	fprintf(f, "rcodes ok=%lu nx=%lu fail=%lu refused=%lu bytes=%lu\n",
		(unsigned long)rc[RC_OK], (unsigned long)rc[RC_NXDOMAIN],
		(unsigned long)rc[RC_SERVFAIL], (unsigned long)rc[RC_REFUSED],
		(unsigned long)bytes);
	fprintf(f, "errors short=%lu name=%lu type=%lu\n", (unsigned long)g_err.short_read,
		(unsigned long)g_err.bad_name, (unsigned long)g_err.bad_type);
}
