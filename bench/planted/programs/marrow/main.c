#include "rt.h"

#include <signal.h>

struct mutator;
struct mutator *load_mutator(int i);

static volatile sig_atomic_t want_dump;

static void on_usr1(int sig)
{
	(void)sig;
	want_dump = 1;
}

static int set_option(const char *s)
{
	static const struct { const char *name; int *where; } opts[] = {
		{ "threads", &rt_params.threads }, { "ops", &rt_params.ops },
		{ "sample", &rt_params.sample_every }, { "log", &rt_params.log_level },
	};
	const char *eq = strchr(s, '=');

	if (!eq) {
		rt_params.ops = atoi(s) * 100;
		return rt_params.ops <= 0;
	}
	for (size_t i = 0; i < sizeof opts / sizeof opts[0]; i++)
		if (strlen(opts[i].name) == (size_t)(eq - s) && !strncmp(s, opts[i].name, eq - s)) {
			*opts[i].where = atoi(eq + 1);
			return 0;
		}
	return 1;
}

int main(int argc, char **argv)
{
	pthread_t tid[RT_MAX_THREADS], ep, sc, pr;
	struct sigaction sa = { .sa_handler = on_usr1 };

	for (int i = 1; i < argc; i++)
		if (set_option(argv[i])) {
			fprintf(stderr, "marrow: bad option %s\n", argv[i]);
			return 2;
		}
	if (rt_params.threads < 2 || rt_params.threads > RT_MAX_THREADS)
		return 2;
	sigaction(SIGUSR1, &sa, NULL);
	if (rt_init()) {
		perror("marrow");
		return 1;
	}
	ep_init();
	prof_init();
	load_init();
	rt_set_sample_hook(prof_hook);
	atomic_store(&rt_running, rt_params.threads);

	pthread_create(&ep, NULL, ep_main, NULL);
	pthread_create(&sc, NULL, scav_main, NULL);
	pthread_create(&pr, NULL, prof_main, NULL);
	for (int i = 0; i < rt_params.threads; i++)
		if (pthread_create(&tid[i], NULL, load_main, load_mutator(i)))
			rt_panic(__FILE__, __LINE__, "pthread_create");
	for (int i = 0; i < rt_params.threads; i++)
		pthread_join(tid[i], NULL);
	pthread_join(ep, NULL);
	pthread_join(sc, NULL);
	pthread_join(pr, NULL);

	ep_flush();
	rt_dump();
	if (want_dump)
		rt_heap_limits_check();
	printf("%llu operations, %u samples\n", (unsigned long long)load_result(), atomic_load(&rt->samples_taken));
	return 0;
}
