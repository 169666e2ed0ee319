#include "dns.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH 16

static void watch(struct loop *l, int fd)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(l->epfd, EPOLL_CTL_ADD, fd, &ev) < 0) {
        perror("epoll_ctl");
        exit(1);
    }
}

struct loop *loop_new(int client_fd)
{
    struct loop *l = calloc(1, sizeof *l);
    if (!l)
        abort();
    l->epfd = epoll_create1(0);
    l->client_fd = client_fd;
    l->wake_fd = eventfd(0, EFD_NONBLOCK);
    watch(l, l->client_fd);
    watch(l, l->wake_fd);
    return l;
}

static int read_queries(struct server *s)
{
    struct query in[BATCH];
    ssize_t n = recv(s->loop->client_fd, in, sizeof in, MSG_DONTWAIT);
    if (n == 0)
        return -1;
    if (n < 0)
        return 0;
    for (size_t i = 0; i < (size_t)n / sizeof in[0]; i++) {
        struct job *j = aligned_alloc(64, (sizeof *j + 63) & ~63ul);
        j->q = in[i];
        stats.queries++;
        if (opts.log_queries)
            fprintf(stderr, "query %s\n", j->q.name);
        queue_push(s->queue, j);
    }
    return (int)((size_t)n / sizeof in[0]);
}

static int drain(struct server *s)
{
    int n = 0;
    struct job *j = atomic_exchange_explicit(&s->done->top, NULL, memory_order_acquire), *next;
    for (; j; j = next, n++) {
        next = j->next;
        s->done->drained++;
        stats.responses++;
        free(j);
    }
    return n;
}

static void set_now(struct loop *l)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    l->now_ms = t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* until the client hangs up and everything is answered */
long loop_run(struct server *s)
{
    struct epoll_event ev[4];
    long asked = 0, answered = 0;
    bool eof = false;
    while (!eof || answered < asked) {
        int n = epoll_wait(s->loop->epfd, ev, 4, 50);
        s->loop->iterations++;
        set_now(s->loop);
        if (n == 0)
            s->loop->timeouts++;
        for (int i = 0; i < n; i++) {
            if (ev[i].data.fd == s->loop->wake_fd) {
                uint64_t v;
                if (read(s->loop->wake_fd, &v, sizeof v) < 0 && errno != EAGAIN)
                    perror("eventfd");
                answered += drain(s);
            } else if (!eof) {
                int got = read_queries(s);
                if (got < 0) {
                    eof = true;
                    epoll_ctl(s->loop->epfd, EPOLL_CTL_DEL, s->loop->client_fd, NULL);
                } else {
                    asked += got;
                }
            }
        }
    }
    return answered;
}
