#include "sched.h"
#include "cache.h"
#include "events.h"
#include "graph.h"
#include "log.h"
#include "options.h"
#include "source.h"
#include "util.h"

#include <pthread.h>
#include <stdlib.h>

struct progress progress;
struct worker workers[MAX_WORKERS];
uint8_t stale[4096];		/* by target: its output has changed */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_cond_t drained;
	uint32_t *ready;	/* a stack: depth first keeps the inputs warm */
	uint32_t n_ready;
	uint32_t running;
	bool stop;
	bool failed;
} queue = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.work = PTHREAD_COND_INITIALIZER,
	.drained = PTHREAD_COND_INITIALIZER,
};

static pthread_t threads[MAX_WORKERS];
static struct toolchain *tools[MAX_WORKERS];
static int n_threads;

/* compiles and jobs of other rules, for the summary of main */
static unsigned long rule_runs[RULE_MAX];
static pthread_mutex_t rule_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t run_tool(struct toolchain *tc, const uint32_t *text, uint32_t words,
			 uint32_t input)
{
	uint32_t h = mix32(tc->seed, input);

	tc->lines++;
	for (uint32_t i = 0; i < words; i++) {
		h = mix32(h, text[i]);
		if ((text[i] & 7) == 0)
			tc->symbols++;
		if (text[i] > 0xfff00000u)
			tc->warnings++;
	}
	tc->tokens += words;
	for (uint32_t k = 0; k < tc->level; k++)
		h = mix32(h, k);
	return h;
}

static bool build_target(struct worker *w, struct toolchain *tc, uint32_t id)
{
	struct target *t = &graph.targets[id];
	uint32_t words, key, out;
	const uint32_t *text;
	bool ok = true;

	t->state = T_RUNNING;
	w->current = (int32_t)id;
	atomic_fetch_add_explicit(&progress.started, 1, memory_order_relaxed);
	events_add(EV_START, id);
	key = mix32(mix32(t->input_hash, t->source), source_mtime(t->source)) | 1;
	if (t->rule != RULE_LINK && cache_lookup(key, &out)) {
		w->reused++;
	} else {
		text = source_open(t->source, &words);
		out = run_tool(tc, text, words, t->input_hash);
		source_close(t->source, out);
		if (out == 0xdeadbeef) {
			atomic_fetch_add(&progress.errors, 1);
			log_line("target %u: tool failed", id);
			w->failed++;
			ok = false;
		}
		cache_store(key, out);
		w->built++;
		pthread_mutex_lock(&rule_lock);
		rule_runs[t->rule]++;
		pthread_mutex_unlock(&rule_lock);
	}
	if (out != t->output_hash) {
		t->output_hash = out;
		stale[id] = 1;
	}
	t->state = ok ? T_DONE : T_FAILED;
	events_add(EV_END, id);
	atomic_fetch_add_explicit(&progress.finished, 1, memory_order_relaxed);
	if (opt.verbose > 1)
		log_line("[%u/%u] target %u -> %08x", progress.finished, progress.total, id, out);
	return ok;
}

/* tell the targets that need this one; the last input makes them ready */
static unsigned release_outputs(const struct target *t, uint32_t *ready)
{
	unsigned n = 0;

	for (uint32_t e = t->first_out; e < t->first_out + t->n_out; e++) {
		struct target *d = &graph.targets[graph.edges[e]];

		if (atomic_fetch_sub_explicit(&d->pending, 1, memory_order_acq_rel) == 1) {
			d->input_hash = mix32(d->n_in, t->output_hash);
			d->state = T_QUEUED;
			ready[n++] = graph.edges[e];
		}
	}
	return n;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct toolchain *tc = tools[w - workers];
	uint32_t ready[8];

	pthread_mutex_lock(&queue.lock);
	for (;;) {
		while (!queue.n_ready && !queue.stop) {
			w->waits++;
			pthread_cond_wait(&queue.work, &queue.lock);
		}
		if (queue.stop)
			break;
		uint32_t id = queue.ready[--queue.n_ready];

		queue.running++;
		pthread_mutex_unlock(&queue.lock);
		bool ok = build_target(w, tc, id);
		unsigned n = ok || opt.keep_going ? release_outputs(&graph.targets[id], ready) : 0;

		pthread_mutex_lock(&queue.lock);
		for (unsigned i = 0; i < n; i++)
			queue.ready[queue.n_ready++] = ready[i];
		if (!ok)
			queue.failed = true;
		if (n > 1)
			pthread_cond_broadcast(&queue.work);
		if (--queue.running == 0 && !queue.n_ready)
			pthread_cond_signal(&queue.drained);
	}
	pthread_mutex_unlock(&queue.lock);
	w->current = -1;
	return NULL;
}

void sched_start(int jobs)
{
	queue.ready = xmalloc(graph.n_targets * sizeof *queue.ready);
	n_threads = jobs;
	for (int i = 0; i < jobs; i++) {
		tools[i] = xcalloc(1, sizeof *tools[i]);
		tools[i]->seed = opt.seed;
		tools[i]->level = 6;
	}
	for (int i = 0; i < jobs; i++) {
		workers[i].current = -1;
		if (pthread_create(&threads[i], NULL, worker_main, &workers[i]))
			die("cannot start worker %d", i);
	}
}

bool sched_build(void)
{
	bool ok;

	pthread_mutex_lock(&queue.lock);
	progress.total += graph.n_targets;
	for (uint32_t i = 0; i < graph.n_targets; i++)
		if (!graph.targets[i].n_in) {
			graph.targets[i].state = T_QUEUED;
			queue.ready[queue.n_ready++] = i;
		}
	pthread_cond_broadcast(&queue.work);
	while (queue.n_ready || queue.running)
		pthread_cond_wait(&queue.drained, &queue.lock);
	ok = !queue.failed;
	pthread_mutex_unlock(&queue.lock);
	return ok;
}

void sched_stop(void)
{
	unsigned long symbols = 0, warnings = 0;

	pthread_mutex_lock(&queue.lock);
	queue.stop = true;
	pthread_cond_broadcast(&queue.work);
	pthread_mutex_unlock(&queue.lock);
	for (int i = 0; i < n_threads; i++) {
		pthread_join(threads[i], NULL);
		symbols += tools[i]->symbols;
		warnings += tools[i]->warnings;
		free(tools[i]);
	}
	free(queue.ready);
	printf("rules: %lu copy, %lu compile, %lu archive, %lu link; %lu symbols, %lu warnings\n",
	       rule_runs[RULE_COPY], rule_runs[RULE_COMPILE], rule_runs[RULE_ARCHIVE],
	       rule_runs[RULE_LINK], symbols, warnings);
}
