/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads, the table of subsystems and their order. */
#include "nv.h"

#define NV_MAX_SUBSYS 8

struct nv_opts nv_opts;
_Atomic uint32_t nv_ticks;
atomic_bool nv_draining;
int nv_log_level = 1;

static const struct nv_subsystem *started[NV_MAX_SUBSYS];
static size_t nstarted;
static unsigned next_slot;
static unsigned spawn_failures;

static void *trampoline(void *p)
{
	struct nv_thread *t = p;

	t->body(t->body_ctx);
	return NULL;
}

static void pin(pthread_attr_t *a, unsigned slot)
{
	cpu_set_t have, want;
	int n, k = 0;

	if (sched_getaffinity(0, sizeof have, &have) || (n = CPU_COUNT(&have)) < 2)
		return;
	for (unsigned left = slot % (unsigned)n; !CPU_ISSET(k, &have) || left--; k++)
		;
	CPU_ZERO(&want);
	CPU_SET(k, &want);
	pthread_attr_setaffinity_np(a, sizeof want, &want);
}

static int posix_spawn_thread(struct nv_thread *t)
{
	pthread_attr_t a;
	int rc;

	pthread_attr_init(&a);
	t->slot = next_slot++;
	pin(&a, t->slot);
	rc = pthread_create(&t->tid, &a, trampoline, t);
	pthread_attr_destroy(&a);
	if (rc)
		spawn_failures++;
	return rc ? -1 : 0;
}

static int posix_reap(struct nv_thread *t)
{
	return pthread_join(t->tid, NULL);
}

static void posix_relax(void)
{
	sched_yield();
}

static const struct nv_env_ops posix_env = {
	.spawn = posix_spawn_thread,
	.reap = posix_reap,
	.relax = posix_relax,
};
const struct nv_env_ops *nv_env = &posix_env;

int nv_app_start(const struct nv_subsystem *const *tab, size_t n, struct nv_opts *o)
{
	nv_opts = *o;
	if (n > NV_MAX_SUBSYS)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (tab[i]->init && tab[i]->init(&nv_opts))
			return -1;
	for (size_t i = 0; i < n; i++) {
		if (tab[i]->start && tab[i]->start())
			return -1;
		started[nstarted++] = tab[i];
	}
	return 0;
}

void nv_app_stop(FILE *f)
{
	for (size_t i = nstarted; i-- > 0;)
		if (started[i]->stop)
			started[i]->stop();
	for (size_t i = 0; i < nstarted; i++)
		if (started[i]->dump)
			started[i]->dump(f);
	if (spawn_failures)
		fprintf(f, "%u threads could not be started\n", spawn_failures);
}
