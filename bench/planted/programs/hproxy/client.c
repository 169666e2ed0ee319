/* the built-in load generator: keeps a few connections busy */
#include "hproxy.h"
#include <sys/socket.h>
#include <unistd.h>

#define PIPELINE 4

struct client_stat { uint32_t sent; uint32_t answered; uint32_t sum; };

static int client_fd[MAX_CLIENTS][CONNS_PER_CLIENT];
static struct client_stat client_stats[MAX_CLIENTS];
static unsigned *client_seed;
static unsigned client_errors;

void client_setup(void)
{
    int k = 0;

    client_seed = malloc(conf.nbclients * sizeof *client_seed);
    for (int i = 0; i < conf.nbclients; i++) {
        client_seed[i] = 17 + i * 1000;
        for (int j = 0; j < CONNS_PER_CLIENT; j++, k++) {
            int sv[2];
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv)) {
                perror("socketpair");
                exit(1);
            }
            client_fd[i][j] = sv[0];
            worker_add_conn(workers[k % conf.nbworkers], sv[1], k);
        }
    }
}

static unsigned draw(int id)
{
    client_seed[id] = client_seed[id] * 1664525 + 1013904223;
    return client_seed[id] >> 16;
}

static int build(int id, char *o)
{
    unsigned path = draw(id);
    static const char tail[] = " HTTP/1.1\r\nHost: a\r\n\r\n";

    path = path % 4 ? path % 32 : (path >> 2) % 96;
    memcpy(o, "GET /", 5);
    o[5] = '0' + path / 10;
    o[6] = '0' + path % 10;
    memcpy(o + 7, tail, sizeof tail - 1);
    return 7 + sizeof tail - 1;
}

static int read_replies(int id, int fd, int want)
{
    char b[BUFSZ];
    int seen = 0;

    while (seen < want) {
        int n = read(fd, b, sizeof b);
        if (n <= 0)
            return -1;
        for (char *p = b; (p = memchr(p, 'H', b + n - p)); p++) {
            seen++;
            client_stats[id].sum += p[36];
            client_stats[id].answered++;
        }
    }
    return 0;
}

void *client_main(void *arg)
{
    int id = (int)(intptr_t)arg;
    char b[256];

    for (int r = 0; r < conf.rounds; r++) {
        for (int j = 0; j < CONNS_PER_CLIENT; j++) {
            int n = 0;
            for (int k = 0; k < PIPELINE; k++) {
                n += build(id, b + n);
                client_stats[id].sent++;
            }
            if (write(client_fd[id][j], b, n) != n)
                HA_ATOMIC_INC(&client_errors);
        }
        for (int j = 0; j < CONNS_PER_CLIENT; j++)
            if (read_replies(id, client_fd[id][j], PIPELINE)) {
                HA_ATOMIC_INC(&client_errors);
                goto out;
            }
    }
out:
    for (int j = 0; j < CONNS_PER_CLIENT; j++)
        close(client_fd[id][j]);
    HA_ATOMIC_DEC(&clients_left);
    return NULL;
}

unsigned client_result(void)
{
    unsigned s = 0;

    for (int i = 0; i < conf.nbclients; i++)
        s += client_stats[i].answered;
    if (client_errors)
        hp_log(LOG_WARN_, "%u client errors", client_errors);
    return s;
}
