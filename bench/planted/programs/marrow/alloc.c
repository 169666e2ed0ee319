/* allocation and release of cells */
#include "rt.h"

#include <sched.h>
#include <stdarg.h>

struct rt_params rt_params = { 3, 3000000, 512, 1, RT_ARENA_PAGES * RT_PAGE };
struct rt_state *rt;
struct rt_stat rt_stats[RT_MAX_THREADS];
struct rt_sizes rt_sizes[RT_MAX_THREADS];
rt_tcache *rt_caches[RT_MAX_THREADS];
rt_central rt_central_tab[RT_NCLASS];
_Thread_local int rt_self;
atomic_int rt_running;

static const uint16_t class_size[RT_NCLASS] = { 16, 32, 48, 64, 128 };
static uint8_t class_of[17];		/* (size + 7) / 8 */
static rt_sample_hook sample_hook;
static unsigned oom_count;

/* every so often a freed cell is kept back for a while, to find late writes */
#define QUARANTINE	32
#define POISON		0x5aa5u
static struct { pthread_mutex_t q_mutex; unsigned q_n, q_bad; void *q_cell[QUARANTINE]; } quarantine = { .q_mutex = PTHREAD_MUTEX_INITIALIZER };
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

void rt_panic(const char *file, int line, const char *what)
{
	fprintf(stderr, "marrow: %s:%d: %s\n", file, line, what);
	abort();
}

void rt_logf(int level, const char *fmt, ...)
{
	va_list ap;

	if (level > rt_params.log_level)
		return;
	pthread_mutex_lock(&log_lock);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	pthread_mutex_unlock(&log_lock);
}

void rt_lock_slow(rt_lock_t *l)
{
	int n = 0;

	while (atomic_flag_test_and_set_explicit(&l->f, memory_order_acquire))
		if (++n > 20) {
			sched_yield();
			n = 0;
		}
}

int rt_init(void)
{
	int c;
	unsigned i;

	rt = calloc(1, sizeof *rt);
	if (!rt)
		return -1;
	rt->npages = RT_ARENA_PAGES;
	rt->sample_every = rt_params.sample_every;
	rt->arena = aligned_alloc(RT_PAGE, (size_t)RT_ARENA_PAGES * RT_PAGE);
	rt->span_of = calloc(RT_ARENA_PAGES, sizeof *rt->span_of);
	if (!rt->arena || !rt->span_of)
		return -1;
	for (c = 0; c < RT_NCLASS; c++) {
		rt_central_tab[c].ce_cell = class_size[c];
		rt_central_tab[c].ce_batch = 1;
		atomic_flag_clear(&rt_central_tab[c].ce_lock.f);
	}
	for (i = 0, c = 0; i < sizeof class_of; i++) {
		while (i * 8 > class_size[c])
			c++;
		class_of[i] = c;
	}
	for (int t = 0; t < rt_params.threads; t++) {
		rt_caches[t] = calloc(1, sizeof(rt_tcache));
		if (!rt_caches[t])
			return -1;
		rt_caches[t]->tc_budget = rt->sample_every;
	}
	return 0;
}

void rt_thread_attach(int id)
{
	RT_CHECK(id >= 0 && id < RT_MAX_THREADS);
	rt_self = id;
}

void rt_set_sample_hook(rt_sample_hook h)
{
	sample_hook = h;
}

static rt_span *span_new(int cls)
{
	rt_central *ce = &rt_central_tab[cls];
	uint32_t page = atomic_fetch_add(&rt->next_page, 1);
	rt_span *sp;
	char *p;

	if (page >= rt->npages || !(sp = calloc(1, sizeof *sp))) {
		oom_count++;
		return NULL;
	}
	sp->sp_base = rt->arena + (size_t)page * RT_PAGE;
	sp->sp_class = cls;
	sp->sp_owner = rt_self;
	for (p = sp->sp_base; p + ce->ce_cell <= sp->sp_base + RT_PAGE; p += ce->ce_cell) {
		rt_cell *c = (rt_cell *)p;
		c->link = sp->sp_local;
		sp->sp_local = c;
	}
	__atomic_store_n(&rt->span_of[page], sp, __ATOMIC_RELEASE);
	return sp;
}

/* Takes back what other threads have freed into one of our spans. */
static bool span_collect(rt_span *sp)
{
	rt_cell *c = atomic_exchange_explicit(&sp->sp_remote, NULL, memory_order_acquire);
	uint32_t n = 0;

	if (!c)
		return sp->sp_local != NULL;
	while (c) {
		rt_cell *next = c->link;
		c->link = sp->sp_local;
		sp->sp_local = c;
		c = next;
		n++;
	}
	sp->sp_used -= n;
	atomic_fetch_sub_explicit(&sp->sp_nremote, n, memory_order_relaxed);
	return true;
}

static rt_span *refill(rt_tcache *tc, int cls)
{
	rt_central *ce = &rt_central_tab[cls];
	rt_span *sp;
	int tries = 0;

	STAT_INC(st_refills);
	rt_lock(&ce->ce_lock);
	ce->ce_fetches += ce->ce_batch;
	rt_unlock(&ce->ce_lock);
	for (sp = tc->tc_mine[cls]; sp && tries < 8; sp = sp->sp_next, tries++)
		if (span_collect(sp))
			return tc->tc_cur[cls] = sp;
	sp = span_new(cls);
	if (!sp)
		return NULL;
	sp->sp_next = tc->tc_mine[cls];
	tc->tc_mine[cls] = sp;
	WITH_LOCK(&ce->ce_lock, ce->ce_nspans++);
	return tc->tc_cur[cls] = sp;
}

void *rt_alloc(size_t n)
{
	rt_tcache *tc = rt_caches[rt_self];
	int cls;
	rt_span *sp;
	rt_cell *c;

	RT_CHECK(n <= 128);
	cls = class_of[(n + 7) / 8];
	sp = tc->tc_cur[cls];
	if (RT_UNLIKELY(!sp || !sp->sp_local) && !(sp = refill(tc, cls)))
		return NULL;
	c = sp->sp_local;
	sp->sp_local = c->link;
	sp->sp_used++;
	STAT_INC(st_allocs);
	rt_sizes[rt_self].sz_count[cls]++;
	rt_sizes[rt_self].sz_bytes += n;
	tc->tc_budget -= rt_central_tab[cls].ce_cell;
	if (tc->tc_budget < 0) {
		tc->tc_budget += rt->sample_every;
		if (sample_hook)
			sample_hook(rt_self, n);
	}
	return c;
}

static void cell_release(rt_cell *c);

/* Puts one in and hands out the one that has been there longest. */
static void *quarantine_swap(void *p)
{
	uint32_t poison = POISON;
	void *old;

	pthread_mutex_lock(&quarantine.q_mutex);
	old = quarantine.q_cell[quarantine.q_n % QUARANTINE];
	quarantine.q_cell[quarantine.q_n++ % QUARANTINE] = p;
	if (old && memcmp((char *)old + 8, &poison, sizeof poison))
		quarantine.q_bad++;
	memcpy((char *)p + 8, &poison, sizeof poison);
	pthread_mutex_unlock(&quarantine.q_mutex);
	return old;
}

void rt_free(void *p)
{
	if (!p)
		return;
	STAT_INC(st_frees);
	if (RT_UNLIKELY(rt_stats[rt_self].st_frees % 65536 == 0) && !(p = quarantine_swap(p)))
		return;
	cell_release(p);
}

static void cell_release(rt_cell *c)
{
	rt_span *sp;

	sp = __atomic_load_n(&rt->span_of[((char *)c - rt->arena) / RT_PAGE], __ATOMIC_ACQUIRE);
	RT_CHECK(sp != NULL);
	if (sp->sp_owner == rt_self) {
		c->link = sp->sp_local;
		sp->sp_local = c;
		sp->sp_used--;
		return;
	}
	STAT_INC(st_remote);
	c->link = atomic_load_explicit(&sp->sp_remote, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&sp->sp_remote, &c->link, c, memory_order_release, memory_order_relaxed))
		;
	atomic_fetch_add_explicit(&sp->sp_nremote, 1, memory_order_relaxed);
}

void rt_heap_limits_check(void)
{
	if (atomic_load(&rt->next_page) * (size_t)RT_PAGE > rt_params.arena_limit)
		rt_logf(0, "arena exhausted: %u pages, %u times out of memory", atomic_load(&rt->next_page), oom_count);
}

void rt_dump(void)
{
	for (int t = 0; t < rt_params.threads; t++)
		rt_logf(1, "thread %d: %u allocs %u frees %u remote %u refills", t, rt_stats[t].st_allocs, rt_stats[t].st_frees,
			rt_stats[t].st_remote, rt_stats[t].st_refills);
	for (int c = 0; c < RT_NCLASS; c++)
		rt_logf(1, "class %d: cell %u, %u spans, %u fetches", c, rt_central_tab[c].ce_cell, rt_central_tab[c].ce_nspans, rt_central_tab[c].ce_fetches);
	if (quarantine.q_bad)
		rt_logf(0, "%u cells were written to after they had been freed", quarantine.q_bad);
	for (int t = 0; t < rt_params.threads; t++)
		rt_logf(2, "thread %d: %u small cells, %llu bytes", t, rt_sizes[t].sz_count[0], (unsigned long long)rt_sizes[t].sz_bytes);
	rt_heap_limits_check();
}
