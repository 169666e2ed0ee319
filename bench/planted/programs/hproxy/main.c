#include "hproxy.h"
#include <time.h>
#include <unistd.h>

unsigned now_ms;
unsigned date_seq;
int clients_left, workers_left;

static const char *const default_config =
    "# compiled-in configuration of the benchmark mode\n"
    "maxconn 4000\n"
    "tune.maxrewrite 128\n"
    "nbthread 3\n"
    "clients 3\n"
    "balance leastconn\n"
    "server 10.0.0.1:80 10\n"
    "server 10.0.0.2:80 20\n"
    "server 10.0.0.3:80 10\n"
    "log-level 2\n";

static void on_term(int sig)
{
    (void)sig;
    stopping = 1;
}

/* The workers never call gettimeofday() themselves. */
static void *clock_main(void *arg)
{
    struct timespec ts;
    unsigned last = 0;

    (void)arg;
    while (HA_ATOMIC_LOAD(&workers_left)) {
        clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
        unsigned ms = ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
        HA_ATOMIC_STORE(&now_ms, ms);
        if (ms != last) {
            date_seq++;
            last = ms;
        }
        usleep(50);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t clk, logt, hc, cl[MAX_CLIENTS];
    struct sigaction sa = { .sa_handler = on_term };

    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGINT, &sa, NULL);
    if (argc > 1)
        conf.rounds = atoi(argv[1]);
    if (parse_config(default_config))
        return 1;
    cache_init();
    access_log_init();
    actions_builtin();
    for (int i = 0; i < conf.nbworkers; i++)
        worker_new(i);
    client_setup();
    workers_left = conf.nbworkers;
    clients_left = conf.nbclients;

    pthread_create(&clk, NULL, clock_main, NULL);
    pthread_create(&logt, NULL, access_log_main, alog);
    pthread_create(&hc, NULL, health_main, default_be);
    for (int i = 0; i < conf.nbworkers; i++)
        if (pthread_create(&workers[i]->thr, NULL, worker_main, workers[i]))
            abort();
    for (int i = 0; i < conf.nbclients; i++)
        pthread_create(&cl[i], NULL, client_main, (void *)(intptr_t)i);

    for (int i = 0; i < conf.nbclients; i++)
        pthread_join(cl[i], NULL);
    for (int i = 0; i < conf.nbworkers; i++)
        pthread_join(workers[i]->thr, NULL);
    pthread_join(hc, NULL);
    pthread_join(logt, NULL);
    pthread_join(clk, NULL);

    worker_dump();
    cache_dump();
    printf("%u requests, %u answered, %lu bytes\n", global.req_count, client_result(), global.bytes_out);
    return 0;
}
