#include <stdio.h>
#include <stdlib.h>

#include "server.h"

struct server srv = { "quill", 8080, 100, 4096, 2, 0, 0, NULL };
struct worker workers[NWORKERS];
struct totals totals;
atomic_ulong clock_ms;
atomic_ulong inflight_bytes;
atomic_int stopping;

static void workers_start(void)
{
    for (unsigned int i = 0; i < NWORKERS; i++) {
        struct worker *w = &workers[i];

        w->id = i;
        w->seed = i * 7919u + 1;
        w->inbox = inbox_new();
        w->outcap = 512;
        w->outbuf = aligned_alloc(64, w->outcap);
        if (pthread_create(&w->thread, NULL, worker_main, w))
            abort();
    }
}

static void workers_join(void)
{
    for (int i = 0; i < NWORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        totals.served += workers[i].served;
        totals.bytes += workers[i].bytes_out;
        inbox_free(workers[i].inbox);
        free(workers[i].outbuf);
    }
}

int main(int argc, char **argv)
{
    pthread_t event, ticker;
    unsigned long peak = 0;

    event_rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    srv.pool = conn_pool_new(NCONNS);
    log_open(1);
    workers_start();
    if (pthread_create(&event, NULL, event_main, NULL))
        abort();
    if (pthread_create(&ticker, NULL, ticker_main, &peak))
        abort();
    pthread_join(event, NULL);
    pthread_join(ticker, NULL);
    workers_join();
    printf("%s: %lu accepted, %lu served\n", srv.name, srv.accepted, totals.served);
    routes_print();
    log_close();
    conn_pool_destroy(srv.pool);
    return 0;
}
