#include "loop.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct loop *loop_new(unsigned id)
{
    struct loop *l;
    struct epoll_event ev = { .events = EPOLLIN };

    if (posix_memalign((void **)&l, 64, sizeof *l) != 0)
        return NULL;
    memset(l, 0, sizeof *l);
    l->id = id;
    l->timeout_ms = 20;
    l->epfd = epoll_create1(EPOLL_CLOEXEC);
    l->efd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_mutex_init(&l->inbox_lock, NULL);
    ev.data.ptr = l;
    epoll_ctl(l->epfd, EPOLL_CTL_ADD, l->efd, &ev);
    return l;
}

void loop_post(struct loop *l, struct event *e)
{
    uint64_t one = 1;
    int wake;

    pthread_mutex_lock(&l->inbox_lock);
    wake = l->inbox == NULL;
    e->next = l->inbox;
    l->inbox = e;
    l->inbox_len++;
    pthread_mutex_unlock(&l->inbox_lock);
    if (wake) {
        l->wakeups++;
        if (write(l->efd, &one, sizeof one) < 0)
            abort();
    }
}

struct event *loop_wait(struct loop *l)
{
    struct epoll_event ev[4];
    struct event *e;
    uint64_t n;
    int r = epoll_wait(l->epfd, ev, 4, l->timeout_ms);

    if (r < 0) {
        if (errno != EINTR)
            l->epoll_errors++;
        return NULL;
    }
    for (int i = 0; i < r; i++)
        if (read(l->efd, &n, sizeof n) < 0 && errno != EAGAIN)
            l->epoll_errors++;
    pthread_mutex_lock(&l->inbox_lock);
    e = l->inbox;
    l->inbox = NULL;
    l->inbox_len = 0;
    pthread_mutex_unlock(&l->inbox_lock);
    return e;
}

void loop_free(struct loop *l)
{
    close(l->epfd);
    close(l->efd);
    pthread_mutex_destroy(&l->inbox_lock);
    free(l);
}
