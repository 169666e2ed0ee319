#include "dns.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct options opts = {.max_depth = 512, .rrl_limit = 1u << 30, .default_ttl = 300};
struct server_stats stats;
static struct server server;
static long rounds = 100000;
static _Atomic int stopping __attribute__((aligned(64)));

/* control channel: prints once in a while */
static struct {
    uint64_t snapshots;
    uint64_t last_queries;
} control __attribute__((aligned(64)));

static void *client_main(void *arg)
{
    int fd = *(int *)arg;
    uint32_t x = 1;
    struct query out[4];
    for (long i = 0; i < rounds; i += 4) {
        memset(out, 0, sizeof out);
        for (int k = 0; k < 4; k++) {
            x = x * 1103515245u + 12345u;
            out[k].client = 0x0a000100u + (x >> 24) % 8;     /* a few forwarders ask for everybody */
            out[k].id = (uint16_t)(i + k);
            out[k].qtype = 1;
            unsigned v = x & 0x80000 ? (x >> 10) % 6 : (x >> 10) % 400;
            memcpy(out[k].name, "host", 4);
            char *p = out[k].name + 4;
            if (v >= 100) *p++ = (char)('0' + v / 100);
            if (v >= 10) *p++ = (char)('0' + v / 10 % 10);
            *p++ = (char)('0' + v % 10);
            memcpy(p, ".example.net", 13);
        }
        if (send(fd, out, sizeof out, 0) < 0)
            break;
    }
    shutdown(fd, SHUT_WR);
    return NULL;
}

static void *control_main(void *arg)
{
    (void)arg;
    while (!atomic_load(&stopping)) {
        usleep(250000);
        control.snapshots++;
        control.last_queries = stats.queries;
    }
    return NULL;
}

static void from_environment(void)
{
    const char *s = getenv("DNS_RRL");
    if (s)
        opts.rrl_limit = (uint32_t)strtoul(s, NULL, 0);
    if (getenv("DNS_LOG"))
        opts.log_queries = 1;
}

int main(int argc, char **argv)
{
    int sv[2];
    pthread_t client, ctl;
    if (argc > 1)
        rounds = atol(argv[1]);
    from_environment();
    cache_fill();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv) < 0) {
        perror("socketpair");
        return 1;
    }
    server.loop = loop_new(sv[0]);
    server.queue = calloc(1, sizeof *server.queue);
    server.done = calloc(1, sizeof *server.done);
    server.workers = calloc(NWORKERS, sizeof *server.workers);
    queue_init(server.queue);
    pthread_create(&client, NULL, client_main, &sv[1]);
    for (unsigned i = 0; i < NWORKERS; i++) {
        struct worker *w = &server.workers[i];
        w->id = i;
        w->srv = &server;
        w->salt = 0x1234u * (i + 1);
        pthread_create(&w->tid, NULL, worker_main, w);
    }
    pthread_create(&ctl, NULL, control_main, NULL);
    long n = loop_run(&server);
    queue_close(server.queue);
    pthread_join(client, NULL);
    uint64_t handled = 0, hits = 0;
    for (int i = 0; i < NWORKERS; i++) {
        pthread_join(server.workers[i].tid, NULL);
        handled += server.workers[i].handled;
        hits += server.workers[i].cache_hits;
    }
    atomic_store(&stopping, 1);
    pthread_join(ctl, NULL);
    printf("answered %ld handled %lu hits %lu queries %lu responses %lu formerr %lu iterations %lu drained %lu\n", n,
           (unsigned long)handled, (unsigned long)hits, (unsigned long)stats.queries, (unsigned long)stats.responses,
           (unsigned long)stats.formerr, (unsigned long)server.loop->iterations, (unsigned long)server.done->drained);
    return 0;
}
