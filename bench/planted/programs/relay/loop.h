#ifndef LOOP_H
#define LOOP_H
#include <pthread.h>
#include <stdint.h>

enum cmd { C_HELO, C_MAIL, C_RCPT, C_DATA, C_RSET, C_QUIT, C_MAX };

struct session;

struct event {
    struct event *next;
    struct session *s;
    enum cmd cmd;
    uint32_t len;
};

/* what a loop is asked to do by other threads comes in by inbox and efd */
struct loop {
    int epfd;
    int efd;
    unsigned id;
    unsigned timeout_ms;
    struct event *inbox;
    unsigned inbox_len;
    unsigned wakeups;        /* acceptor: writes to efd */
    uint64_t turns;          /* loop: events handled */
    uint64_t octets;         /* loop */
    pthread_mutex_t inbox_lock;
    struct event *batch;     /* loop: what it works on */
    uint64_t epoll_errors;
    pthread_t tid;
};

struct loop *loop_new(unsigned id);
void loop_post(struct loop *l, struct event *e);
struct event *loop_wait(struct loop *l);
void loop_free(struct loop *l);
#endif
