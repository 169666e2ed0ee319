/*
 * marrow: an object allocator with thread caches, epoch based reclamation
 * and a scavenger.
 */
#ifndef RT_H
#define RT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RT_MAX_THREADS	4
#define RT_NCLASS	5
#define RT_PAGE		4096u
#define RT_ARENA_PAGES	1024u

#define RT_LIKELY(x)	__builtin_expect(!!(x), 1)
#define RT_UNLIKELY(x)	__builtin_expect(!!(x), 0)

#define RT_CHECK(c)	do { if (RT_UNLIKELY(!(c))) rt_panic(__FILE__, __LINE__, #c); } while (0)

/* statistics: #define RT_NO_STATS to get rid of them */
#ifndef RT_NO_STATS
# define STAT_INC(f)	(rt_stats[rt_self].f++)
# define STAT_ADD(f, n)	(rt_stats[rt_self].f += (n))
#else
# define STAT_INC(f)	((void)0)
# define STAT_ADD(f, n)	((void)0)
#endif

typedef struct { atomic_flag f; } rt_lock_t;
void rt_lock_slow(rt_lock_t *l);
static inline void rt_lock(rt_lock_t *l)
{
	if (RT_UNLIKELY(atomic_flag_test_and_set_explicit(&l->f, memory_order_acquire)))
		rt_lock_slow(l);
}
static inline void rt_unlock(rt_lock_t *l)
{
	atomic_flag_clear_explicit(&l->f, memory_order_release);
}
#define WITH_LOCK(l, ...) do { rt_lock(l); __VA_ARGS__; rt_unlock(l); } while (0)

/* a free cell */
typedef struct rt_cell { struct rt_cell *link; } rt_cell;

/* a run of cells of one size; the descriptor is not in the arena */
typedef struct rt_span {
	struct rt_span *sp_next;
	char		*sp_base;
	uint16_t	sp_class;
	uint16_t	sp_owner;
	uint32_t	sp_used;	/* owner only */
	rt_cell		*sp_local;	/* owner only */
	_Atomic(rt_cell *) sp_remote;	/* pushed by everybody else */
	_Atomic uint32_t sp_nremote;
	uint32_t	sp_age;		/* scavenger */
} rt_span;

/* the central lists */
typedef struct rt_central {
	rt_lock_t	ce_lock;
	uint32_t	ce_nspans;
	uint32_t	ce_fetches;
	uint16_t	ce_cell;	/* size of a cell */
	uint16_t	ce_batch;
	rt_span		*ce_all;
} rt_central;

/* one for each thread, from the heap */
typedef struct rt_tcache {
	rt_span		*tc_cur[RT_NCLASS];
	rt_span		*tc_mine[RT_NCLASS];
	int32_t		tc_budget;	/* bytes until the next sample */
	uint32_t	tc_seed;
} rt_tcache;

struct rt_stat { uint32_t st_allocs, st_frees, st_remote; uint32_t st_refills; };

/* the same, but by size class; padded, for the curious */
struct rt_sizes { uint32_t sz_count[RT_NCLASS]; uint64_t sz_bytes; } __attribute__((aligned(64)));

/* written once at start */
struct rt_params {
	int	threads;
	int	ops;
	int	sample_every;
	int	log_level;
	size_t	arena_limit;
};

/* shared state of the whole runtime */
struct rt_state {
	_Atomic uint32_t next_page;	/* arena: bump pointer */
	_Atomic uint32_t pressure;	/* set by the scavenger */
	uint32_t	npages;
	uint32_t	sample_every;
	_Atomic uint32_t live_objects;
	_Atomic uint32_t samples_taken;
	char		*arena;
	rt_span		**span_of;
};

extern struct rt_params rt_params;
extern struct rt_state *rt;
extern struct rt_stat rt_stats[RT_MAX_THREADS];
extern struct rt_sizes rt_sizes[RT_MAX_THREADS];
extern rt_tcache *rt_caches[RT_MAX_THREADS];
extern rt_central rt_central_tab[RT_NCLASS];
extern _Thread_local int rt_self;
extern atomic_int rt_running;

void rt_panic(const char *file, int line, const char *what) __attribute__((noreturn));
void rt_logf(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

int  rt_init(void);
void rt_thread_attach(int id);
void *rt_alloc(size_t n);
void rt_free(void *p);
void rt_dump(void);
void rt_heap_limits_check(void);

/* hooks, e.g. of the heap profiler */
typedef void (*rt_sample_hook)(int thread, size_t size);
void rt_set_sample_hook(rt_sample_hook h);

/* epochs */
void ep_init(void);
void ep_enter(void);
void ep_leave(void);
bool ep_room(void);
void ep_retire(void *p);
void ep_flush(void);
void *ep_main(void *arg);

/* scavenger and profiler */
void *scav_main(void *arg);
void prof_init(void);
void prof_hook(int thread, size_t size);
void *prof_main(void *arg);

/* workload */
void load_init(void);
void *load_main(void *arg);
uint64_t load_result(void);

#endif
